#include "resource/field.h"

#include <algorithm>

namespace duewheel {

FieldTable::FieldTable(std::string_view holder, std::span<const Field> rows, bool (*check)(const void* resource))
    : holder_(holder), rows_(rows), is_sound_(check) {
    for (const Field& row : rows) {
        if (row.number != 0) by_number_.push_back(&row);
    }
    std::sort(by_number_.begin(), by_number_.end(),
              [](const Field* left, const Field* right) { return left->number < right->number; });
    made_.reserve(rows.size());
    const auto add = [this](std::string_view group, std::string_view member) {
        auto found =
            std::find_if(groups_.begin(), groups_.end(), [&](const Group& each) { return each.name == group; });
        if (found == groups_.end()) found = groups_.insert(groups_.end(), Group{group, {}});
        if (std::find(found->members.begin(), found->members.end(), member) == found->members.end()) {
            found->members.push_back(member);
        }
    };
    for (const Field& row : rows) {
        if (row.path.empty()) continue;
        const std::string_view group = row.group();
        if (!group.empty()) add({}, group);
        add(group, row.name());
        if (row.is_time()) add(group, made_.emplace_back(std::string(row.name()) + "_ms"));
    }
    for (std::size_t i = 0; i < rows.size();) {
        const std::string_view group = rows[i].group();
        std::size_t end = i + 1;
        while (!group.empty() && end < rows.size() && rows[end].group() == group) ++end;
        const std::span<const Field> of_section = rows.subspan(i, end - i);
        i = end;
        const auto is_read = [](const Field& row) { return !row.path.empty() && row.set != nullptr; };
        if (group.empty() && !is_read(of_section.front())) continue;
        sections_.push_back(
            {group.empty() ? of_section.front().path : group, group, of_section,
             std::any_of(of_section.begin(), of_section.end(), [](const Field& row) { return row.is_required; })});
    }
}

std::span<const std::string_view> FieldTable::members_of(std::string_view group) const {
    for (const Group& each : groups_) {
        if (each.name == group) return each.members;
    }
    return {};
}

Status check_ranges(const FieldTable& table, const void* resource,
                    const std::function<std::uint64_t(std::string_view name)>& limit, std::string_view within) {
    for (const Field& row : table.rows()) {
        if (row.path.empty()) continue;
        if (row.coding == FieldCoding::object) {
            const void* const inner = row.look(resource);
            if (inner == nullptr) continue;
            Status legal = check_ranges(row.table(), inner, limit, std::string(within).append(row.path).append("."));
            if (!legal) return legal;
            continue;
        }
        if ((row.kind != FieldKind::count && row.kind != FieldKind::duration) || row.get == nullptr) continue;
        const FieldValue value = row.get(resource);
        const std::int64_t* const number = std::get_if<std::int64_t>(&value);
        if (number == nullptr) continue;
        const auto most = row.limit.empty() ? static_cast<std::uint64_t>(row.max) : limit(row.limit);
        if (*number >= row.min && static_cast<std::uint64_t>(*number) <= most) continue;
        const std::string path = std::string(within).append(row.path);
        const std::string unit = row.kind == FieldKind::duration ? "ms" : "";
        return Error{
            row.code,
            "`" + path + "` must be from " + std::to_string(row.min) + unit + " to " + std::to_string(most) + unit,
            path};
    }
    return {};
}

}  // namespace duewheel

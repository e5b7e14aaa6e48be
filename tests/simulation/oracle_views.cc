// What a reader of the log beside its server must find, such as an export or a backup: the state of one instant, which
// contains everything that was answered, and perhaps what is being written.
#include <algorithm>
#include <set>
#include <tuple>

#include "simulation/oracle.h"

namespace duewheel {
namespace {

bool stands(const std::optional<MessageRow>& row) {
    return row && (!is_ended(row->state.state) || row->state.state == State::dead);
}

}  // namespace

void Oracle::viewed(const FindRow& find) {
    for (const MessageModel& about : messages_) {
        // Nobody is told when a recurring message or a prepared message is over.
        if (about.id == 0 || about.is_recurring() || about.half) continue;
        const std::optional<MessageRow> row = find(about.id);
        const Worlds worlds = with_open_commands(about, 0);
        if (stands(row)) {
            rare_.met(Rare::message_viewed);
            if (row_fits(about, *row, worlds, may_be_dead_after(about, row->state.attempts))) continue;
            return violate("C1",
                           "a view of the log says " + std::string(state_name(row->state.state)) + ", due " +
                               at(row->state.due_ms) + ", but it is " + describe(worlds),
                           &about);
        }
        const bool may_be_over = std::any_of(worlds.begin(), worlds.end(), [](const World& world) {
            return world.is_ended() || world.phase == World::Phase::absent;
        });
        if (may_be_over || about.may_have_expired(latest()) || about.purge != MessageModel::Purge::no) continue;
        if (may_be_let_go(about) || may_be_discarded(about)) continue;
        return violate("C1", "it is in no view of the log, but it is " + describe(worlds), &about);
    }
}

// Each message that stands there has one line, with what its client put; but for those that a purge or a discard is
// about to end.
void Oracle::exported(const ExportedLines& lines, const FindRow& find) {
    std::set<MessageId> ids;
    for (const MessageLine& line : lines.messages) {
        const std::optional<MessageRow> row = find(line.id);
        const MessageModel* about = message_of(line.id);
        if (!ids.insert(line.id).second) return violate("C9", "an export has it twice", about);
        if (!stands(row)) return violate("C3", "an export has what has ended", about);
        if (about != nullptr && !check_line(*about, line, *row)) return;
    }
    std::uint64_t left_out = 0;
    for (const MessageModel& about : messages_) {
        if (about.id == 0 || ids.contains(about.id) || !stands(find(about.id))) continue;
        ++left_out;
        if (lines.purged == 0) return violate("C1", "it is in no line of an export", &about);
        if (about.purge != MessageModel::Purge::no || about.stops_sent > 0 || may_be_discarded(about)) continue;
        if (!queue_of(about.put.name_space, about.put.queue).open.empty()) continue;
        return violate("C1", "it is in no line of an export, and nothing ends it", &about);
    }
    if (left_out > lines.purged) violate("X", "an export lacks more than it says");
    if (!violated()) check_settings_lines(lines);
}

bool Oracle::check_line(const MessageModel& about, const MessageLine& line, const MessageRow& row) {
    rare_.met(about.is_recurring() ? Rare::loop_exported
              : line.transaction   ? Rare::half_exported
                                   : Rare::message_exported);
    const bool is_where_it_was = line.name_space == about.put.name_space && line.queue == about.put.queue &&
                                 line.repeat.has_value() == about.is_recurring() &&
                                 line.transaction.has_value() == (row.state.state == State::prepared) &&
                                 (line.state == State::dead) == (row.state.state == State::dead) &&
                                 line.attempts == row.state.attempts;
    if (!is_where_it_was) return violate("C1", "a line of an export says what it is not", &about), false;
    if (about.is_recurring() && about.loop->is_exact()) {
        const bool is_next =
            line.next_occurrence > about.loop->made_least && line.due_ms == about.loop->due_ms(line.next_occurrence);
        if (!is_next) {
            return violate("C6",
                           "a line of an export says that occurrence " + std::to_string(line.next_occurrence) +
                               " is due at " + at(line.due_ms),
                           &about),
                   false;
        }
    }
    const bool is_due = about.is_recurring() || line.transaction || line.due_ms == row.state.due_ms;
    if (!is_due) return violate("C6", "a line of an export says that it is due at " + at(line.due_ms), &about), false;
    if (about.parent != 0 || about.is_run() || about.is_firing()) return true;
    const PutCommand& put = about.put;
    const bool is_same =
        about.may_have_content(line) && line.priority == row.state.priority && line.order_key == put.order_key;
    if (!is_same) return violate("C1", "a line of an export has another content than was put", &about), false;
    return true;
}

// What is surely set has a line.
void Oracle::check_settings_lines(const ExportedLines& lines) {
    using Kind = SettingsLine::Kind;
    std::set<std::tuple<Kind, std::string, std::string>> told;
    std::set<std::string> paths;
    for (const SettingsLine& line : lines.settings) {
        rare_.met(Rare::settings_exported);
        told.emplace(line.kind, line.name_space, line.name);
        if (!paths.insert(line.path()).second) {
            return violate("X", "an export has two lines of " + std::string(kind_name(line.kind)) + " " + line.name);
        }
    }
    for (const auto& [name, model] : schedules_) {
        const bool is_certain =
            model.surely() != nullptr && !model.put_lost && !model.remove_lost && !model.change_lost;
        if (!is_certain || told.contains({Kind::schedule, name.first, name.second})) continue;
        return schedule_violates(model, "C1", "it is in no line of an export");
    }
    for (const auto& [name, model] : queues_) {
        const bool is_certain = model.is_known && model.open.empty() && model.settings.revision != 0;
        if (!is_certain || told.contains({Kind::queue, name.first, name.second})) continue;
        return violate("C1", "the settings of queue " + name.second + " are in no line of an export");
    }
}

}  // namespace duewheel

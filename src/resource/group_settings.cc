#include "resource/group_settings.h"

#include "resource/field_codec.h"

namespace duewheel {
namespace {

constexpr Field kGroupRows[] = {
    count<&GroupSettings::leased_max>(2, "leased", "Maximum number of its messages that are leased at once",
                                      {.page = "the maximum number of its messages that are leased at once",
                                       .limit = "limits.leased_max",
                                       .when_absent = "that of all groups of the queue"}),
    object<&GroupSettings::rate>(3, "rate", "How many of its deliveries may start in a time",
                                 {.page = "its [rate](#limits-of-deliveries)"}),
    count<&GroupSettings::weight>(4, "weight", "Deliveries in each of its turns",
                                  {.page = "how many of its messages are delivered in each of its turns, 1 to 1,000; "
                                           "1 by default",
                                   .max = kGroupWeightMax,
                                   .when_absent = "1"}),
    kept<&GroupSettings::revision>(1),
    kept<&GroupSettings::backoff_until_ms>(5),
};

}  // namespace

template <>
const FieldTable& fields_of<GroupSettings>() {
    static const FieldTable table("a group's settings hold", kGroupRows);
    return table;
}

std::string encode_group_settings(const GroupSettings& settings) {
    return encode_revised_fields(settings);
}

Result<GroupSettings> decode_group_settings(std::string_view bytes) {
    return decode_revised_fields<GroupSettings>(bytes);
}

std::string group_conf_name(std::string_view queue, std::string_view group) {
    return std::string(queue).append(1, '\0').append(group);
}

std::optional<std::pair<std::string_view, std::string_view>> split_group_conf_name(std::string_view name) {
    const std::size_t end = name.find('\0');
    if (end == name.npos || end == 0 || end + 1 == name.size()) return std::nullopt;
    return std::pair(name.substr(0, end), name.substr(end + 1));
}

}  // namespace duewheel

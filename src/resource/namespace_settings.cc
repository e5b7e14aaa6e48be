#include "resource/namespace_settings.h"

#include "resource/field_codec.h"

namespace duewheel {
namespace {

// A limit of a namespace; all have the same maximum.
template <auto Member>
constexpr Field limit(std::uint32_t number, std::string_view path, std::string_view sentence, std::string_view page) {
    return count<Member>(number, path, sentence,
                         {.page = page, .limit = "limits.pending_max", .when_absent = "no limit"});
}

constexpr Field kNamespaceRows[] = {
    count<&NamespaceSettings::weight>(7, "weight", "Its share when several namespaces have more requests than fit",
                                      {.page = "when there is more to do than the disk takes, its turns are as many "
                                               "times as long; 1 by default",
                                       .max = kNamespaceWeightMax,
                                       .when_absent = "1"}),
    limit<&NamespaceSettings::pending_max>(
        2, "limits.pending", "Maximum number of unfinished messages in all of its queues",
        "unfinished messages in all of its queues together. Beyond it, puts, redrives and kicks of dead letters, and "
        "firing a schedule are refused as `namespace_full`"),
    limit<&NamespaceSettings::queues_max>(
        3, "limits.queues", "Maximum number of queues",
        "queues that hold messages, have settings, or have waiting consumers. Beyond it, calls that would create "
        "another queue, and transactions whose [check queue](#transactions) would: `queue_limit`"),
    limit<&NamespaceSettings::schedules_max>(4, "limits.schedules", "Maximum number of schedules",
                                             "schedules. Creating another one: `schedule_limit`"),
    limit<&NamespaceSettings::watchdogs_max>(5, "limits.watchdogs", "Maximum number of watchdogs",
                                             "watchdogs. Creating another one: `watchdog_limit`"),
    limit<&NamespaceSettings::put_rate>(
        6, "limits.put_rate", "Maximum number of puts per second, with a burst of one second",
        "puts per second; after a pause of a second or more, that number at once. Beyond it, puts, and firing a "
        "schedule: `too_many_puts`"),
    kept<&NamespaceSettings::revision>(1),
};

}  // namespace

template <>
const FieldTable& fields_of<NamespaceSettings>() {
    static const FieldTable table("a namespace's settings hold", kNamespaceRows);
    return table;
}

std::string encode_namespace_settings(const NamespaceSettings& settings) {
    return encode_revised_fields(settings);
}

Result<NamespaceSettings> decode_namespace_settings(std::string_view bytes) {
    return decode_revised_fields<NamespaceSettings>(bytes);
}

}  // namespace duewheel

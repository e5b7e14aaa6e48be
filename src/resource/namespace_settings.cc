#include "resource/namespace_settings.h"

#include "resource/field_codec.h"

namespace duewheel {
namespace {

// A limit of a namespace; all have the same maximum.
template <auto Member>
constexpr Field limit(std::uint32_t number, std::string_view path, std::string_view sentence,
                      std::string_view page = {}) {
    return count<Member>(number, path, sentence,
                         {.page = page, .min = 1, .limit = "limits.pending_max", .when_absent = "no limit"});
}

constexpr Field kRows[] = {
    count<&NamespaceSettings::weight>(7, "weight", "Its share when several namespaces have more requests than fit",
                                      {.page = "When several namespaces have more requests waiting than one commit can "
                                               "take, each gets a share in proportion to its weight",
                                       .min = 1,
                                       .max = kNamespaceWeightMax,
                                       .when_absent = "1"}),
    limit<&NamespaceSettings::pending_max>(2, "limits.pending",
                                           "Maximum number of unfinished messages in all of its queues"),
    limit<&NamespaceSettings::queues_max>(3, "limits.queues", "Maximum number of queues"),
    limit<&NamespaceSettings::schedules_max>(4, "limits.schedules", "Maximum number of schedules"),
    limit<&NamespaceSettings::watchdogs_max>(5, "limits.watchdogs", "Maximum number of watchdogs"),
    limit<&NamespaceSettings::put_rate>(6, "limits.put_rate",
                                        "Maximum number of puts per second, with a burst of one second",
                                        "Messages that rules create count too"),
    kept<&NamespaceSettings::revision>(1),
};

}  // namespace

template <>
const FieldTable& fields_of<NamespaceSettings>() {
    static const FieldTable table("a namespace's settings hold", kRows);
    return table;
}

std::string encode_namespace_settings(const NamespaceSettings& settings) {
    return encode_revised_fields(settings);
}

Result<NamespaceSettings> decode_namespace_settings(std::string_view bytes) {
    return decode_revised_fields<NamespaceSettings>(bytes);
}

}  // namespace duewheel

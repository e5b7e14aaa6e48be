#include "message/namespace_settings.h"

#include "message/fields.h"

namespace duewheel {
namespace {

// Field numbers. They are in the log: never change or re-use one.
enum Tag : std::uint32_t {
    kRevision = 1,
    kPendingMax = 2,
    kQueuesMax = 3,
    kSchedulesMax = 4,
    kWatchdogsMax = 5,
    kPutRate = 6,
    kWeight = 7,
};

template <class Visitor, class Settings>
void namespace_settings_fields(Visitor& visit, Settings& settings) {
    visit.number(kRevision, settings.revision);
    visit.number(kPendingMax, settings.pending_max);
    visit.number(kQueuesMax, settings.queues_max);
    visit.number(kSchedulesMax, settings.schedules_max);
    visit.number(kWatchdogsMax, settings.watchdogs_max);
    visit.number(kPutRate, settings.put_rate);
    visit.number(kWeight, settings.weight);
}

}  // namespace

std::string encode_namespace_settings(const NamespaceSettings& settings) {
    return encode_revised(settings, [](auto& visit, const auto& of) { namespace_settings_fields(visit, of); });
}

Result<NamespaceSettings> decode_namespace_settings(std::string_view bytes) {
    return decode_revised<NamespaceSettings>(bytes, "a namespace's settings hold",
                                             [](auto& visit, auto& of) { namespace_settings_fields(visit, of); });
}

}  // namespace duewheel

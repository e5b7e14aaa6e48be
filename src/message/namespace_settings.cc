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

}  // namespace

std::string encode_namespace_settings(const NamespaceSettings& settings) {
    std::string out;
    if (settings.revision == 0) return out;
    FieldWriter to(out);
    to.number(kRevision, settings.revision);
    to.number(kPendingMax, settings.pending_max);
    to.number(kQueuesMax, settings.queues_max);
    to.number(kSchedulesMax, settings.schedules_max);
    to.number(kWatchdogsMax, settings.watchdogs_max);
    to.number(kPutRate, settings.put_rate);
    to.number(kWeight, settings.weight);
    return out;
}

Result<NamespaceSettings> decode_namespace_settings(std::string_view bytes) {
    NamespaceSettings settings;
    FieldReader from(bytes);
    while (from.next()) {
        switch (from.tag()) {
            case kRevision:
                from.number(settings.revision);
                break;
            case kPendingMax:
                from.number(settings.pending_max);
                break;
            case kQueuesMax:
                from.number(settings.queues_max);
                break;
            case kSchedulesMax:
                from.number(settings.schedules_max);
                break;
            case kWatchdogsMax:
                from.number(settings.watchdogs_max);
                break;
            case kPutRate:
                from.number(settings.put_rate);
                break;
            case kWeight:
                from.number(settings.weight);
                break;
            default:
                return Error{"newer_format",
                             "a namespace's settings hold field " + std::to_string(from.tag()) +
                                 ", which this version does not know: open the data with the version that wrote it"};
        }
    }
    if (from.damaged() || (settings.revision == 0) != bytes.empty()) {
        return Error{"damaged_record", "a namespace's settings cannot be read"};
    }
    return settings;
}

}  // namespace duewheel

#include "message/namespace_settings.h"

#include "message/fields.h"

namespace duewheel {
namespace {

// Field numbers are in the log: never change or re-use one.
template <class Visitor, class Settings>
void namespace_settings_fields(Visitor& visit, Settings& settings) {
    visit.number(1, settings.revision);
    visit.number(2, settings.pending_max);
    visit.number(3, settings.queues_max);
    visit.number(4, settings.schedules_max);
    visit.number(5, settings.watchdogs_max);
    visit.number(6, settings.put_rate);
    visit.number(7, settings.weight);
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

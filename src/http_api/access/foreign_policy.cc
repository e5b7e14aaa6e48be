#include "http_api/access/foreign_policy.h"

#include <cstddef>

namespace duewheel {
namespace {

struct Word {
    std::string_view theirs;
    std::string_view ours;  // empty: no policy of ours does that
};

// Those of CronTrigger, SimpleTrigger and CalendarIntervalTrigger. Instructions that fire now fire once for all missed
// times; those that reschedule to the next time fire for none of them; the smart policy is Quartz's default, as `once`
// is ours. xxl-job has two of the same names.
constexpr Word kQuartzMisfires[] = {
    {"DO_NOTHING", "skip"},
    {"FIRE_AND_PROCEED", "once"},
    {"FIRE_NOW", "once"},
    {"FIRE_ONCE_NOW", "once"},
    {"IGNORE_MISFIRES", "all"},
    {"IGNORE_MISFIRE_POLICY", "all"},
    {"RESCHEDULE_NEXT_WITH_EXISTING_COUNT", "skip"},
    {"RESCHEDULE_NEXT_WITH_REMAINING_COUNT", "skip"},
    {"RESCHEDULE_NOW_WITH_EXISTING_REPEAT_COUNT", "once"},
    {"RESCHEDULE_NOW_WITH_REMAINING_REPEAT_COUNT", "once"},
    {"SMART_POLICY", "once"},
};

// xxl-job's, by their names in its API and on its pages.
constexpr Word kBlockStrategies[] = {
    {"SERIAL_EXECUTION", "queue_one"}, {"单机串行", "queue_one"}, {"DISCARD_LATER", "skip"},
    {"丢弃后续调度", "skip"},          {"COVER_EARLY", ""},       {"覆盖之前调度", ""},
};
constexpr Word kConcurrencyPolicies[] = {{"Allow", "allow"}, {"Forbid", "skip"}, {"Replace", ""}};

template <std::size_t size>
std::string hint_from(const Word (&words)[size], std::string_view word, std::string_view kind) {
    for (const Word& each : words) {
        if (each.theirs != word) continue;
        std::string hint = "; the " + std::string(kind);
        if (each.ours.empty()) return hint + " has no counterpart: a run that a consumer has leased is not interrupted";
        return hint.append(" corresponds to \"").append(each.ours).append("\"");
    }
    return {};
}

}  // namespace

std::string foreign_policy_hint(std::string_view member, std::string_view word) {
    if (member == "misfire") {
        constexpr std::string_view kPrefix = "MISFIRE_INSTRUCTION_";
        if (word.starts_with(kPrefix)) word.remove_prefix(kPrefix.size());
        return hint_from(kQuartzMisfires, word, "Quartz instruction");
    }
    if (member != "overlap") return {};
    const std::string hint = hint_from(kBlockStrategies, word, "block strategy of xxl-job");
    return hint.empty() ? hint_from(kConcurrencyPolicies, word, "concurrency policy of Kubernetes") : hint;
}

}  // namespace duewheel

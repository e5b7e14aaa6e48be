// The report of a violation: its clause, and the history of the message concerned.
#include "simulation/oracle.h"

namespace duewheel {

std::string_view Oracle::command_name(const Command& command) {
    constexpr std::string_view kNames[] = {"put",
                                           "put batch",
                                           "get",
                                           "cancel",
                                           "reschedule",
                                           "fire",
                                           "lease",
                                           "ack",
                                           "fail",
                                           "extend",
                                           "release",
                                           "relocate",
                                           "relocate outcomes",
                                           "relocation done",
                                           "list",
                                           "history",
                                           "configure queue",
                                           "describe queue",
                                           "list queues",
                                           "relocate settings",
                                           "hold",
                                           "kick",
                                           "redrive",
                                           "hold lease",
                                           "discard",
                                           "put schedule",
                                           "tell schedule",
                                           "describe schedule",
                                           "list schedules",
                                           "preview schedule",
                                           "relocate rule",
                                           "settle",
                                           "put watchdog",
                                           "feed watchdog",
                                           "remove watchdog",
                                           "describe watchdog",
                                           "list watchdogs",
                                           "configure namespace",
                                           "describe namespace",
                                           "list namespaces",
                                           "forecast",
                                           "patch queue",
                                           "patch namespace",
                                           "patch schedule",
                                           "patch watchdog",
                                           "change token",
                                           "describe token",
                                           "list tokens",
                                           "take records",
                                           "lease message"};
    return kNames[command.index()];
}

void Oracle::violate(std::string_view clause, std::string what, const MessageModel* about) {
    if (!violation_) violation_ = Violation{clause, std::move(what), about == nullptr ? 0 : about->serial};
}

void Oracle::note(MessageModel& about, std::string_view what, std::int64_t first, std::int64_t second) {
    about.history.push_back({step_, now_, what, first, second});
}

std::string Oracle::history(std::uint64_t serial) const {
    if (serial == 0) return {};
    const MessageModel& about = messages_[serial - 1];
    std::string text = "message " + std::to_string(about.id) + " (put " + std::to_string(serial) + ", queue " +
                       about.put.queue + "), possible: " + describe(about.worlds()) + "\n";
    if (about.is_run()) {
        const PutScheduleCommand& schedule = schedule_puts_[about.schedule_put - 1].command;
        const TimesRule& times = schedule.rule.times;
        text += "  run " + std::to_string(about.occurrence) + " of schedule " + schedule.name + ": `" + times.text +
                "`, every " + std::to_string(times.every_ms) + ", zone `" + times.zone + "`, start " +
                std::to_string(times.start_ms) + ", end " + std::to_string(times.end_ms) + ", times " +
                std::to_string(times.times) + ", closed `" + times.closed + "`\n";
    }
    if (about.is_firing()) {
        const PutWatchdogCommand& watchdog = watchdog_puts_[about.watchdog_put - 1].command;
        text += "  firing " + std::to_string(about.occurrence) + " of watchdog " + watchdog.name + ": timeout " +
                std::to_string(watchdog.rule.timeout_ms) + ", most " + std::to_string(watchdog.rule.max_ms) +
                ", again " + std::to_string(watchdog.rule.repeat_every_ms) + "\n";
    }
    for (const HistoryLine& line : about.history) {
        text += "  step " + std::to_string(line.step) + "  time " + std::to_string(line.now) + "  " +
                std::string(line.what) + "  " + std::to_string(line.first) + "  " + std::to_string(line.second) + "\n";
    }
    return text;
}

}  // namespace duewheel

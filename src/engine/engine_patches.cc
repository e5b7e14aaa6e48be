// Patches: commands that change some settings and keep the others.
//
// A patch is applied to the settings when the command is executed, in the order of all commands, and not when the
// request was read: of two that change different settings at the same time, both take effect. While a record of the
// settings is on its way to the disk, a patch waits like other commands on them. The content of messages of a schedule
// or a watchdog is only in its newest whole record, which is read first; if that was replaced meanwhile, the new one
// is.
//
// The result of a patch is a command that sets all settings, and continues like one.
#include "engine/command_size.h"
#include "engine/engine.h"

namespace duewheel {

Verdict Engine::patch(PendingCommand& pending, PatchScheduleCommand& command) {
    const Schedule* schedule = schedules_.find(command.name_space, command.name);
    if (schedule != nullptr && schedule->in_batch) return Verdict::deferred;
    if (schedule != nullptr && !is_visible(*schedule, pending.limits)) {
        return replied(pending, unknown_schedule(command.name_space, command.name, pending.limits));
    }
    ScheduleRule rule;
    Record whole;
    if (schedule != nullptr) {
        const auto verdict =
            read_whole_rule(pending, schedule->log_position, command.log_position, command.record_body);
        if (verdict) return *verdict;
        Result<Record> read = decode_record(RecordKind::rule, command.record_body);
        if (!read) return effects_.fatal_error = read.error(), Verdict::settled;
        whole = *std::move(read);
        rule = schedule->state.rule;
    }
    Result<PutScheduleCommand> changed = command.change(rule, whole.content);
    if (!changed) {
        const bool is_unknown = schedule == nullptr && changed.error().code == "missing_member";
        Error error = is_unknown ? unknown_schedule(command.name_space, command.name, pending.limits) : changed.error();
        // The same error for one of another queue as for one that does not exist.
        if (is_unknown && !pending.limits) error.message += "; to create it with this call, " + changed.error().message;
        return replied(pending, std::move(error));
    }
    if (!has_room(record_bytes_at_most(pending.command, kRecordOverheadMax))) return Verdict::deferred;
    changed->name_space = command.name_space;
    changed->name = command.name;
    return put_schedule(pending, *changed);
}

Verdict Engine::patch(PendingCommand& pending, PatchWatchdogCommand& command) {
    const Watchdog* watchdog = watchdogs_.find(command.name_space, command.name);
    if (watchdog != nullptr && watchdog->in_batch) return Verdict::deferred;
    if (watchdog != nullptr && !is_visible(*watchdog, pending.limits)) {
        return replied(pending, unknown_watchdog(command.name_space, command.name, pending.limits));
    }
    WatchdogRule rule;
    Record whole;
    if (watchdog != nullptr) {
        const auto verdict =
            read_whole_rule(pending, watchdog->log_position, command.log_position, command.record_body);
        if (verdict) return *verdict;
        Result<Record> read = decode_record(RecordKind::rule, command.record_body);
        if (!read) return effects_.fatal_error = read.error(), Verdict::settled;
        whole = *std::move(read);
        rule = watchdog->state.rule;
    }
    Result<PutWatchdogCommand> changed = command.change(rule, whole.content);
    if (!changed) {
        const bool is_unknown = watchdog == nullptr && changed.error().code == "missing_member";
        Error error = is_unknown ? unknown_watchdog(command.name_space, command.name, pending.limits) : changed.error();
        // The same error for one of another queue as for one that does not exist.
        if (is_unknown && !pending.limits) error.message += "; to create it with this call, " + changed.error().message;
        return replied(pending, std::move(error));
    }
    if (!has_room(record_bytes_at_most(pending.command, kRecordOverheadMax))) return Verdict::deferred;
    changed->name_space = command.name_space;
    changed->name = command.name;
    return put_watchdog(pending, *changed);
}

// Reads the record at `log_position` into `record_body`. If that needs a lookup, returns a verdict, and the command is
// validated again with the result. `read_position`: of the record that the command has read before.
std::optional<Verdict> Engine::read_whole_rule(PendingCommand& pending, Sequence log_position, Sequence& read_position,
                                               std::string& record_body) {
    if (read_position == log_position) return std::nullopt;
    read_position = log_position;
    if (const std::string* body = cache_.find(log_position)) {
        record_body = *body;
        return std::nullopt;
    }
    lookups_.start(ReadRecords{{log_position}}, RuleLookup{std::move(pending)});
    return Verdict::looking_up;
}

void Engine::finish(RuleLookup lookup, FoundRecords records, Generation) {
    std::visit(
        [&](auto& command) {
            if constexpr (requires { command.record_body; }) command.record_body = std::move(records.front().body);
        },
        lookup.command.command);
    commands_.push_looked_up(std::move(lookup.command));
}

}  // namespace duewheel

#include "server/shard/queue_replay.h"

#include "base/overloaded.h"
#include "message/access_token.h"
#include "message/records/input_position.h"
#include "message/records/subject.h"
#include "message/watchdog_state.h"
#include "resource/namespace_settings.h"
#include "resource/queue_settings.h"

namespace duewheel {

Status QueueReplay::begin(const Index& index) {
    Result<std::vector<Index::Counts>> counts = index.queue_counts();
    if (!counts) return std::move(counts).error();
    for (const Index::Counts& of : *counts) counts_[{of.queue.name_space, of.queue.queue}] = of.counts;
    Result<std::vector<Index::Settings>> settings = index.settings();
    if (!settings) return std::move(settings).error();
    for (Index::Settings& each : *settings) {
        of(each.subject)[{each.queue.name_space, each.queue.queue}] = std::move(each.row);
    }
    return {};
}

void QueueReplay::apply(const Record& record, Sequence sequence, std::uint32_t frame_bytes) {
    std::visit(Overloaded{[&](const MessageRecord& of) { count(of); },
                          [&](const ConfRecord& of) { set(of, sequence, frame_bytes); },
                          [&](const RuleRecord& of) { set(of, sequence, frame_bytes); }, [](const auto&) {}},
               record);
}

void QueueReplay::count(const MessageRecord& record) {
    if (!changes_state(record.kind)) return;
    if (record.previous.version != 0) {
        counts(record.state.name_space, record.previous.queue).leave(record.previous.state);
    }
    counts(record.state.name_space, record.state.queue).enter(record.state.state);
}

template <class Of>
void QueueReplay::set(const Of& record, Sequence sequence, std::uint32_t frame_bytes) {
    const Name name{record.name_space, std::string(record.name)};
    std::map<Name, SettingsRow>& settings = of(record.subject);
    if (record.value.empty()) {
        settings.erase(name);
    } else if (record.is_whole()) {
        settings[name] = {sequence, frame_bytes, std::string(record.value)};
    } else {
        settings[name] = {record.log_position, record.record_bytes, std::string(record.value)};
    }
}

QueueCounts& QueueReplay::counts(const std::string& name_space, const std::string& queue) {
    if (last_ == counts_.end() || last_->first.second != queue || last_->first.first != name_space) {
        last_ = counts_.try_emplace({name_space, queue}).first;
    }
    return last_->second;
}

std::vector<Index::Settings> QueueReplay::settings() const {
    std::vector<Index::Settings> all;
    for (const Subject subject : {Subject::queue, Subject::name_space, Subject::input, Subject::token, Subject::group,
                                  Subject::schedule, Subject::watchdog}) {
        for (const auto& [name, row] : of(subject)) all.push_back({{name.first, name.second}, row, subject});
    }
    return all;
}

Status QueueReplay::finish(std::vector<ScheduleStart>& into, const FindZone& find_zone, LogSink& log) const {
    for (const auto& [name, row] : of(Subject::schedule)) {
        Result<ScheduleState> state = decode_schedule(row.value);
        if (!state) return std::move(state).error();
        ScheduleStart& start = into.emplace_back();
        start.name_space = name.first;
        start.name = name.second;
        start.state = *std::move(state);
        start.log_position = row.log_position;
        start.record_bytes = row.record_bytes;
        Result<ScheduleTimes> times = ScheduleTimes::make(start.state.rule.times, find_zone);
        if (times) {
            start.times = *std::move(times);
            continue;
        }
        log.warning(
            "schedule_invalid",
            "The schedule cannot be loaded and creates no messages. Correct the error, or set the schedule again.",
            {{"namespace", name.first}, {"schedule", name.second}, {"error", times.error().message}});
    }
    return {};
}

Status QueueReplay::finish(std::vector<WatchdogStart>& into) const {
    into.reserve(of(Subject::watchdog).size());
    for (const auto& [name, row] : of(Subject::watchdog)) {
        Result<WatchdogState> state = decode_watchdog(row.value);
        if (!state) return std::move(state).error();
        into.push_back({name.first, name.second, *std::move(state), row.log_position, row.record_bytes});
    }
    return {};
}

Status QueueReplay::finish(std::vector<NamespaceStart>& into) const {
    for (const auto& [name, row] : of(Subject::name_space)) {
        const Result<NamespaceSettings> settings = decode_namespace_settings(row.value);
        if (!settings) return settings.error();
        into.push_back({name.first, *settings, row.log_position, row.record_bytes});
    }
    return {};
}

Status QueueReplay::finish(std::vector<GroupConfStart>& into) const {
    for (const auto& [name, row] : of(Subject::group)) {
        const Result<GroupSettings> settings = decode_group_settings(row.value);
        if (!settings) return settings.error();
        into.push_back({name.first, name.second, *settings, row.log_position, row.record_bytes});
    }
    return {};
}

Status QueueReplay::finish(std::vector<StoredToken>& into) const {
    into.reserve(of(Subject::token).size());
    for (const auto& [name, row] : of(Subject::token)) {
        if (const auto token = decode_access_token(name.second, row.value); !token) return token.error();
        into.push_back({name.second, row.value, row.log_position, row.record_bytes});
    }
    return {};
}

Status QueueReplay::finish(std::vector<InputPosition>& into) const {
    into.reserve(of(Subject::input).size());
    for (const auto& [name, row] : of(Subject::input)) {
        const Result<std::int64_t> offset = decode_input_position(row.value);
        if (!offset) return offset.error();
        into.push_back({name.second, *offset, row.log_position, row.record_bytes});
    }
    return {};
}

Status QueueReplay::finish(std::vector<EngineStart::QueueState>& into, LogSink& log) const {
    std::map<Name, EngineStart::QueueState> states;
    for (const auto& [name, counts] : counts_) {
        if (!counts.empty()) states[name].counts = counts;
    }
    for (const auto& [name, row] : of(Subject::queue)) {
        Result<QueueSettings> settings = decode_queue_settings(row.value);
        if (!settings) return std::move(settings).error();
        EngineStart::QueueState& state = states[name];
        state.settings = *settings;
        state.settings_position = row.log_position;
        state.settings_bytes = row.record_bytes;
        if (settings->old_per_second == 0) continue;
        log.warning("setting_removed",
                    "The queue has a setting of an earlier version, which has no effect. To limit its deliveries, set "
                    "`rate`. Any change of its settings removes the old one.",
                    {{"namespace", name.first},
                     {"queue", name.second},
                     {"setting", "limits.per_second"},
                     {"value", settings->old_per_second}});
    }
    for (auto& [name, state] : states) {
        state.queue = {name.first, name.second};
        into.push_back(std::move(state));
    }
    return {};
}

}  // namespace duewheel

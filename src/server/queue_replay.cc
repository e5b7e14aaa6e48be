#include "server/queue_replay.h"

#include "message/queue_settings.h"

namespace duewheel {

Status QueueReplay::begin(const Index& index) {
    Result<std::vector<Index::Counts>> counts = index.queue_counts();
    if (!counts) return std::move(counts).error();
    for (const Index::Counts& of : *counts) counts_[{of.queue.name_space, of.queue.queue}] = of.counts;
    Result<std::vector<Index::Settings>> settings = index.settings();
    if (!settings) return std::move(settings).error();
    for (Index::Settings& of : *settings) settings_[{of.queue.name_space, of.queue.queue}] = std::move(of.row);
    return {};
}

void QueueReplay::apply(const Record& record, Sequence sequence, std::uint32_t frame_bytes) {
    switch (record.kind) {
        case RecordKind::put:
        case RecordKind::spawn:
        case RecordKind::change:
        case RecordKind::end:
            if (record.previous.version != 0) {
                counts(record.state.name_space, record.previous.queue).leave(record.previous.state);
            }
            return counts(record.state.name_space, record.state.queue).enter(record.state.state);
        case RecordKind::conf: {
            const Name name{record.state.name_space, std::string(record.name)};
            if (record.value.empty()) {
                settings_.erase(name);
            } else {
                settings_[name] = {sequence, frame_bytes, std::string(record.value)};
            }
            return;
        }
        default:  // an attempt or a carry leaves the message where it is
            return;
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
    for (const auto& [name, row] : settings_) all.push_back({{name.first, name.second}, row});
    return all;
}

Status QueueReplay::finish(std::vector<EngineStart::QueueState>& into) const {
    std::map<Name, EngineStart::QueueState> states;
    for (const auto& [name, counts] : counts_) {
        if (!counts.empty()) states[name].counts = counts;
    }
    for (const auto& [name, row] : settings_) {
        Result<QueueSettings> settings = decode_queue_settings(row.value);
        if (!settings) return std::move(settings).error();
        EngineStart::QueueState& state = states[name];
        state.settings = *settings;
        state.settings_place = row.place;
        state.settings_bytes = row.record_bytes;
    }
    for (auto& [name, state] : states) {
        state.queue = {name.first, name.second};
        into.push_back(std::move(state));
    }
    return {};
}

}  // namespace duewheel

#include "store/segment_effect.h"

#include <algorithm>
#include <cassert>

#include "base/overloaded.h"
#include "message/records/outcome_rows.h"
#include "store/key_layout.h"

namespace duewheel {

SegmentEffect::SegmentEffect(std::size_t records) {
    messages_.reserve(records);
}

void SegmentEffect::add(const Record& record, Sequence sequence, std::size_t frame_bytes, DueMs server_time_ms) {
    std::visit(
        Overloaded{[&](const MessageRecord& of) { add(of, sequence, frame_bytes, server_time_ms); },
                   [&](const ConfRecord& of) { add_rule(settings_, of, sequence, frame_bytes); },
                   [&](const RuleRecord& of) { add_rule(rules_, of, sequence, frame_bytes); },
                   [&](const CursorRecord& of) { add_cursor(of); },
                   [&](const RelocationDoneRecord& of) { relocated_up_to_ = std::max(relocated_up_to_, of.up_to); },
                   [&](const OutcomesRecord& of) {
                       outcomes_relocated_up_to_ = std::max(outcomes_relocated_up_to_, of.up_to);
                   },
                   [](const EpochRecord&) {}},  // the index does not depend on them
        record);
}

void SegmentEffect::add(const MessageRecord& record, Sequence sequence, std::size_t frame_bytes, DueMs server_time_ms) {
    const auto [inserted, fresh] = by_id_.try_emplace(record.id, static_cast<std::uint32_t>(messages_.size()));
    if (fresh) {
        messages_.emplace_back();
        begin(messages_.back(), record);
    }
    MessageEffect& effect = messages_[inserted->second];
    set_state(effect, record);
    set_record(effect, record, sequence, frame_bytes);
    if (record.kind == RecordKind::end) {
        ends_.push_back({ended_row(record), effect.queue});
        if (record.state.state != State::dead) outcome_bytes_ += frame_bytes;
    }
    effect.decided_ms = server_time_ms;
}

void SegmentEffect::begin(MessageEffect& effect, const MessageRecord& record) {
    effect.id = record.id;
    StoodBefore& before = effect.before;
    if (record.kind == RecordKind::relocate) {
        // A relocation changes no state, so rows of the message in older tables have the same keys as the relocated
        // record. Without this, a later record of this segment would not remove those rows.
        before = {record.state.due_ms,
                  record.state.nominal_due_ms,
                  0,
                  queue_number(record.state.name_space, record.state.queue),
                  kNoGroup,
                  record.state.state,
                  record.ended_ms,
                  record.state.expires_ms,
                  true,
                  record.state.order_key};
        before.group = group_number(before.queue, record.state.group);
    } else if (record.previous.version != 0) {
        const Previous& previous = record.previous;
        const bool moves = previous.rows.is_set();
        before = {previous.due_ms,
                  previous.nominal_due_ms != 0 ? previous.nominal_due_ms : previous.due_ms,
                  needs_record(previous.state) ? record.log_position : 0,
                  queue_number(record.state.name_space, previous.queue),
                  kNoGroup,
                  previous.state,
                  previous.ended_ms,
                  moves ? previous.rows->expires_ms : record.state.expires_ms,
                  false,
                  moves ? previous.rows->order_key : record.state.order_key};
        before.group = group_number(before.queue, moves ? previous.rows->group : record.state.group);
    }
}

void SegmentEffect::set_state(MessageEffect& effect, const MessageRecord& record) {
    const MessageState& state = record.state;
    effect.queue = queue_number(state.name_space, state.queue);
    effect.group = group_number(effect.queue, state.group);
    effect.state = state.state;
    copy_progress(state, effect);
    const bool has_reason = !record.reason.empty() && (state.state == State::dead || state.state == State::retrying);
    if (!state.has_any() && !has_reason) {
        effect.rare = 0;
        return;
    }
    if (effect.rare == 0) {
        effect.rare = static_cast<std::uint32_t>(rare_.size());
        rare_.emplace_back();
    }
    RareFields& rare = rare_[effect.rare];
    static_cast<RareState&>(rare) = state;
    rare.reason = has_reason ? record.reason : std::string_view();
}

void SegmentEffect::set_record(MessageEffect& effect, const MessageRecord& record, Sequence sequence,
                               std::size_t frame_bytes) {
    const bool ended = is_ended(record.state.state);
    effect.ended_ms = ended_at(record);
    effect.lease_attempt = ended ? record.lease_attempt : 0;
    effect.lease_incarnation = ended ? record.lease_incarnation : 0;
    if (!needs_record(record.state.state)) {
        effect.log_position = 0;
        effect.record_bytes = 0;
    } else if (is_whole(record.kind)) {
        effect.log_position = sequence;
        effect.record_bytes = static_cast<std::uint32_t>(frame_bytes);
    } else {
        effect.log_position = record.log_position;
        effect.record_bytes = record.record_bytes;
    }
}

void SegmentEffect::add_cursor(const CursorRecord& record) {
    if (record.queue.empty()) {
        load_cursor_ms_ = std::max(load_cursor_ms_, record.due_ms);
        return;
    }
    queue_cursors_.push_back(
        {queue_number(record.name_space, record.queue), {record.due_ms, record.id}, record.removed});
}

template <class Of>
void SegmentEffect::add_rule(std::map<std::string, RuleEffect>& to, const Of& record, Sequence sequence,
                             std::size_t frame_bytes) {
    const auto [inserted, fresh] = to.try_emplace(settings_key(record.subject, record.name_space, record.name));
    RuleEffect& effect = inserted->second;
    if (fresh) {
        effect.name = {record.name_space, std::string(record.name)};
        effect.position_before = record.log_position;
    }
    effect.log_position = record.is_whole() ? sequence : record.log_position;
    effect.record_bytes = record.is_whole() ? static_cast<std::uint32_t>(frame_bytes) : record.record_bytes;
    effect.value = record.value;
}

void SegmentEffect::fill_row(const MessageEffect& message, MessageRow& row) const {
    const QueueName& name = queues_.name(message.queue);
    const RareFields& rare = rare_[message.rare];
    row.id = message.id;
    row.log_position = message.log_position;
    row.record_bytes = message.record_bytes;
    copy_end(message, row);
    row.state.state = message.state;
    copy_progress(message, row.state);
    static_cast<RareState&>(row.state) = rare;
    row.state.name_space = name.name_space;
    row.state.queue = name.queue;
    row.state.group = groups_[message.group].group;
    row.reason = rare.reason;
}

QueueNumber SegmentEffect::queue_number(const std::string& name_space, const std::string& queue) {
    if (last_queue_ != kNoQueue) {
        const QueueName& last = queues_.name(last_queue_);
        if (last.queue == queue && last.name_space == name_space) return last_queue_;
    }
    last_queue_ = queues_.number(name_space, queue);
    return last_queue_;
}

}  // namespace duewheel

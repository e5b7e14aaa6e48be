#include "engine/core/engine_context.h"

#include <algorithm>

#include "calendar/duration.h"
#include "engine/commands/refusals.h"
#include "message/records/subject.h"
#include "resource/queue_settings.h"

namespace duewheel {

EngineContext::EngineContext(const EngineOptions& with, const EngineStart& start, RecentTier& tier)
    : options(with),
      recent(tier),
      now(start.totals.server_time_ms),
      cache(options.record_cache_bytes),
      wheel(static_cast<Tick>(start.totals.server_time_ms), options.crowd_messages),
      batches(start.totals),
      segment(options, start.segment, start.segment_fill, start.segment_bytes, start.block_bytes, start.unsealed),
      earlier_runs(options.shard, start.past_until_ms, start.ids_from),
      signer(start.token_key) {}

bool EngineContext::refuse_page(std::uint32_t limit, ReplyToken token) {
    if (limit >= 1 && limit <= options.list_limit_max) return false;
    reply(token, out_of_range("limit", "from 1 to " + std::to_string(options.list_limit_max)));
    return true;
}

EnginePart::EnginePart(EngineContext& context)
    : context_(context),
      options_(context.options),
      recent_(context.recent),
      now_(context.now),
      effects_(context.effects),
      counters_(context.counters),
      lookups_(context.lookups),
      cache_(context.cache),
      wheel_(context.wheel),
      batches_(context.batches),
      segment_(context.segment),
      earlier_runs_(context.earlier_runs) {}

bool EnginePart::has_room(std::size_t bytes) const {
    const std::size_t grown = batch().bytes() + bytes;
    if (batch().empty() && segment_.is_empty()) return true;
    if (!batch().empty() && grown > options_.batch_bytes_max) return false;
    return segment_.fits(grown);
}

bool EnginePart::refuse_for_space(const PendingCommand& pending, Adds what) const {
    if (segment_.may_add(what)) return false;
    ++counters_.changes_refused_full;
    reply(pending.token, segment_.no_space_for(what));
    return true;
}

void EnginePart::add(EntryNumber number, const Record& record, ReplyToken token, Reply with) {
    if (number != kNoEntry) recent_.entry(number).in_batch = true;
    batch().add(record, number, token, std::move(with));
}

void EnginePart::add_conf(Subject subject, std::string_view name_space, std::string_view name, std::string_view value,
                          const std::optional<StoredConf>& before, ReplyToken token, Reply with) {
    Record record;
    record.kind = RecordKind::conf;
    record.time_ms = now_;
    record.subject = subject;
    record.state.name_space = name_space;
    record.name = name;
    record.value = value;
    if (before) {
        record.log_position = before->log_position;
        record.record_bytes = before->record_bytes;
        record.previous.version = before->revision;
        record.previous.term = subject_term(subject, name_space, name, before->value);
    }
    batch().add(record, kNoEntry, token, std::move(with));
}

Record EnginePart::changed(const Entry& entry, RecordKind kind, Cause cause) const {
    Record record;
    record.kind = kind;
    record.id = entry.id;
    record.log_position = entry.log_position;
    record.record_bytes = entry.record_bytes;
    record.time_ms = now_;
    record.cause = cause;
    record.state = recent_.durable_state(entry);
    record.previous = {record.state.state, record.state.version, record.state.due_ms, record.state.queue, 0, 0, 0};
    if (record.state.state == State::dead) {
        record.previous.ended_ms = recent_.ended_ms(entry);
    } else {
        record.previous.term = digest_term(entry.id, record.state);
    }
    if (!record.state.order_key.empty() && record.state.nominal_due_ms != record.state.due_ms) {
        record.previous.nominal_due_ms = record.state.nominal_due_ms;
    }
    record.state.version += 1;
    record.state.attempts = entry.begun;
    record.state.maybe_delivered |= entry.from_past;
    return record;
}

MessageId EnginePart::next_id() const {
    return (std::max(batch().totals().id_counter, earlier_runs_.ids_from()) + 1) * kShardsMax + options_.shard;
}

Result<DueMs> EnginePart::resolve(const When& when, const char* delay_field, const char* at_field) const {
    const DueMs latest = now_ + options_.delay_max_ms;
    const bool too_long = when.at_ms ? *when.at_ms > latest : when.delay_ms > options_.delay_max_ms;
    if (too_long) {
        return Error{"delay_too_long",
                     "this time is more than " + format_duration(options_.delay_max_ms) +
                         " in the future: choose an earlier one",
                     when.at_ms ? at_field : delay_field};
    }
    return when.at_ms ? std::max<DueMs>(*when.at_ms, 1) : due_after(when.delay_ms);
}

Status EnginePart::check_lease_time(std::int64_t lease_ms) const {
    if (lease_ms < options_.lease_min_ms) {
        return Error{"lease_too_short",
                     "a lease must last at least " + format_duration(options_.lease_min_ms) + ": choose a longer one",
                     "lease"};
    }
    if (lease_ms > options_.lease_max_ms) {
        return Error{"lease_too_long",
                     "a lease can last up to " + format_duration(options_.lease_max_ms) + ": extend it when needed",
                     "lease"};
    }
    return {};
}

}  // namespace duewheel

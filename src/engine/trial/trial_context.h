// For the tests of the engine's parts: what they share with an engine, without one. A test writes records into the
// recent tier, and answers lookups itself.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "engine/core/engine_context.h"
#include "message/records/trial_records.h"

namespace duewheel {

struct TrialContext {
    explicit TrialContext(const EngineOptions& with = {}) : context(with, EngineStart{}, recent) { now = 1'000'000; }

    // A message of queue `q` whose record is in segment 1.
    MessageId put(DueMs due_ms, std::string order_key = {}, std::string queue = "q") {
        MessageRecord record;
        record.kind = RecordKind::put;
        record.id = ++newest * kShardsMax;
        record.state.name_space = kDefaultNamespace;
        record.state.queue = std::move(queue);
        record.state.order_key = std::move(order_key);
        record.state.due_ms = record.state.nominal_due_ms = due_ms;
        recent.apply(record, newest, 1, 100);
        return record.id;
    }
    // The message ends: cancelled, or dead.
    void cancel(MessageId id) { end(id, State::cancelled); }
    void end(MessageId id, State state) {
        const Entry& entry = recent.entry(recent.find(id));
        MessageRecord record;
        record.kind = RecordKind::end;
        record.id = id;
        record.time_ms = now;
        record.state = recent.durable_state(entry);
        record.state.version += 1;
        record.state.state = state;
        recent.apply(record, ++newest, 1, 100);
    }
    // What `add` adds to a batch, which is durable when this returns: `apply` was called with the body of each record
    // and its operation.
    template <class Add, class Apply>
    std::vector<Record> batch(Add&& add, Apply&& apply) {
        BatchPipeline& batches = context.batches;
        batches.begin();
        add();
        batches.committed(batches.submit(now, false));
        std::vector<Record> records;
        while (!batches.is_taken()) {
            for (Operation& operation : batches.take(1)) {
                records.push_back(operation.record);
                const std::string body(batches.batch().body(operation));
                apply(body, operation);
                context.reply(operation.token, std::move(operation.reply));
            }
        }
        batches.finish();
        return records;
    }
    // The command is decided by `part` in a batch of its own: `in_batch` builds it with what it is given.
    template <class InBatch, class Part, class Command>
    static Verdict decide(InBatch&& in_batch, Part& part, Command command, ReplyToken token) {
        PendingCommand pending;
        pending.token = token;
        Verdict verdict = Verdict::deferred;
        in_batch([&] { verdict = part.decide(pending, command); });
        return verdict;
    }

    MessageRow row(MessageId id) const { return recent.row(recent.entry(recent.find(id))); }
    // A message of queue `q` as the index has it, whatever memory knows of it.
    static MessageRow row_on_disk(MessageId id, DueMs due_ms) {
        MessageRow row;
        row.id = id;
        row.state.queue = "q";
        row.state.due_ms = row.state.nominal_due_ms = due_ms;
        return row;
    }

    // The reply with this token, which has come.
    template <class Answer>
    Answer take(ReplyToken token) {
        for (ReplyEffect& effect : std::exchange(effects.replies, {})) {
            if (effect.token == token && std::holds_alternative<Answer>(effect.reply)) {
                return std::get<Answer>(std::move(effect.reply));
            }
            ADD_FAILURE() << "reply " << effect.reply.index() << " to " << effect.token;
        }
        ADD_FAILURE() << "no reply to " << token;
        return {};
    }
    // The only lookup that was started since the last call, which is of this kind.
    template <class Wanted>
    Wanted started() {
        std::vector<Lookup> all = lookups.take_started();
        if (all.size() != 1 || !std::holds_alternative<Wanted>(all[0].what)) {
            ADD_FAILURE() << all.size() << " lookups were started";
            return {};
        }
        return std::get<Wanted>(std::move(all[0].what));
    }
    // What waits for the newest lookup, which is of this kind: it has a result of this generation.
    template <class Kind>
    Kind finished(Generation generation) {
        return std::get<Kind>(lookups.finish(lookups.newest_ticket(), generation));
    }
    // The newest lookup, for which this kind waits, has this result, of the newest generation (0) or of another one.
    template <class Kind, class Part>
    void answer(Part& part, typename Kind::Found found, Generation generation = 0) {
        if (generation == 0) generation = lookups.newest();
        part.finish(finished<Kind>(generation), std::move(found), generation);
    }

    RecentTier recent;
    EngineContext context;
    const EngineOptions& options = context.options;
    DueMs& now = context.time.now;
    Effects& effects = context.effects;
    EngineCounters& counters = context.counters;
    Lookups& lookups = context.lookups;
    Sequence newest = 0;
};

}  // namespace duewheel

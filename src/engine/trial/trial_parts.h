// For the tests of parts that work on messages: they are built as in the engine, without it. A test adds to batches,
// which are durable at once, and moves the time itself.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/core/command_queue.h"
#include "engine/messages/dead_letter_writer.h"
#include "engine/messages/dispatcher.h"
#include "engine/messages/lifecycle.h"
#include "engine/messages/loader.h"
#include "engine/messages/purges.h"
#include "engine/settings/settings.h"
#include "engine/trial/trial_context.h"
#include "engine/views/queue_reports.h"

namespace duewheel {

struct TrialParts : TrialContext {
    explicit TrialParts(const EngineOptions& with = {}) : TrialContext(with) {
        context.run.started = context.run.serving = true;
        lifecycle.start();
        loader.load();
        while (lookups.open() != 0) {  // the index is empty
            PendingLookup next = lookups.finish(lookups.newest_ticket(), lookups.newest());
            loader.finish(std::get<DueLookup>(next), {}, lookups.newest());
        }
        static_cast<void>(lookups.take_started());
    }

    // What `add` adds to a batch, which is durable and applied when this returns.
    template <class Add, class Apply>
    std::vector<Record> batch(Add&& add, Apply&& with) {
        const auto begin_and_add = [&] {
            queues.begin_batch();
            settings.begin_batch();
            add();
        };
        return TrialContext::batch(begin_and_add, with);
    }
    template <class Add>
    std::vector<Record> batch(Add&& add) {
        return batch(add, [this](const std::string& body, Operation& operation) { apply(body, operation); });
    }
    void apply(const std::string& body, Operation& operation) {
        if (const auto* conf = std::get_if<ConfRecord>(&operation.record)) return settings.apply(operation, *conf);
        static_cast<void>(lifecycle.apply(operation, as_message(operation.record)));
        context.cache.insert(operation.sequence, body);
    }
    // A message of queue `q` is put.
    EntryNumber put_message(DueMs due_ms, DueMs expires_ms = 0) {
        MessageRecord record;
        record.state.expires_ms = expires_ms;
        return put_record(std::move(record), due_ms);
    }
    // The same, with what else its record has.
    EntryNumber put_record(MessageRecord record, DueMs due_ms) {
        record.kind = RecordKind::put;
        record.id = (context.batches.totals().id_counter + 1) * kShardsMax;
        record.state.queue = "q";
        record.state.due_ms = due_ms;
        if (record.state.nominal_due_ms == 0) record.state.nominal_due_ms = due_ms;
        record.content.put_ms = now;
        record.content.body = "body";
        batch([&] { context.batches.batch().add(record, kNoEntry, 0, Error{}); });
        return recent.find(record.id);
    }
    // The time, and the timers that it fires.
    void advance_to(DueMs at_ms) {
        now = at_ms;
        context.wheel.advance_to(
            static_cast<Tick>(at_ms),
            [this](std::uint64_t cookie, Tick) {
                if ((cookie & kWaiterCookie) != 0) return dispatcher.end_wait(cookie & ~kWaiterCookie);
                if ((cookie & kTurnCookie) != 0)
                    return lifecycle.turns().wake(static_cast<QueueNumber>(cookie & ~kTurnCookie));
                lifecycle.wake(static_cast<EntryNumber>(cookie));
            },
            1'000);
    }
    // A request that changes the settings of queue `q`.
    QueueAnswer configure(ConfigureQueueCommand command) {
        constexpr ReplyToken kToken = 999;
        command.queue = "q";
        PendingCommand waiting = pending(kToken);
        batch([&] { EXPECT_EQ(settings.decide(waiting, command), Verdict::settled); });
        return take<QueueAnswer>(kToken);
    }
    PendingCommand pending(ReplyToken token) const {
        PendingCommand command;
        command.token = token;
        return command;
    }

    DeadLetters dead_letters{context};
    Queues queues{context, dead_letters};
    CommandQueue commands{context, queues.namespaces()};
    Lifecycle lifecycle{context, queues, 0};
    Loader loader{context, queues, lifecycle, 0};
    Dispatcher dispatcher{context, queues, lifecycle, loader};
    Purges purges{context, queues, lifecycle};
    QueueReports reports{context, queues, lifecycle.turns()};
    Settings settings{context, queues, reports, dead_letters, purges, lifecycle.turns()};
    DeadLetterWriter dead_writer{context, dead_letters, queues, lifecycle};
};

}  // namespace duewheel

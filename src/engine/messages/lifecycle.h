// The live state of messages in memory: what each waits for (store/waits_for.h), and what happens when that comes.
//
//     admit(), apply() ──► place() ──► on the wheel ── wake() ──► place() ──► ready ── dequeue() ──► leased
//                             ▲                                                                        │
//                             └────────────────────────────── end_lease() ─────────────────────────────┘
//
// This is the only part that changes what a message waits for. The state in the log changes with records only: apply()
// takes an entry out of everything, and place() decides what it waits for from then on. A message that the index
// contains leaves memory if nothing needs it before the end of the due window.
//
// An attempt is a delivery that has started. It counts against the message's rule unless the message was released, or
// the attempt came before a kick or a redrive, or ended with the process. If the last lease that the rule allows is
// lost, there is no record of it: the engine notices it when the message would be ready again. The message then waits
// for its end, which is part of the next batch, and a command that comes before it can still change the
// outcome. So a message that kills its consumers ends among the dead letters, where an
// operator will find it.
//
// A lease outlives the process if the record of its attempt holds it. A run keeps the leases that had not ended at the
// newest commit of the run before; those that end within a grace last until its end, so that their workers can return.
// An attempt that a record began and none ended counts only if its lease ends in this run, after the grace. So a
// restart makes no dead letter.
//
// From the instant of its expiry a message is not delivered; its end is a record of the next batch. A message that is
// leased when it expires can be acknowledged while its lease lasts. If a client has requested its cancel meanwhile, it
// ends with its lease in any case. Until an expiry that has come is on disk, the load
// cursor does not pass it, so that a restart finds its row again.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/commands/delivery.h"
#include "engine/core/batch_writer.h"
#include "engine/messages/due_queue.h"
#include "engine/messages/due_window.h"
#include "engine/messages/order_lines.h"
#include "engine/messages/own_records.h"
#include "engine/messages/turns.h"
#include "engine/settings/queues.h"

namespace duewheel {

using DueMessages = DueQueue<MessageId>;

class Lifecycle : Uses<EngineOptions, RecentTier, ServerTime, EngineCounters, Lookups, RecordCache, TimerLanes,
                       BatchPipeline, OpenSegment, EarlierRuns, Leases, RunState, BatchWriter> {
  public:
    // Rows of the index that are due before the load cursor need not be read.
    Lifecycle(const Uses& uses, Queues& queues, DueMs load_cursor_ms)
        : Uses(uses),
          queues_(queues),
          window_(uses, load_cursor_ms),
          order_lines_(uses),
          turns_(uses, queues),
          own_(uses) {}

    DueWindow& window() { return window_; }
    const DueWindow& window() const { return window_; }
    const OrderLines& order_lines() const { return order_lines_; }
    Turns& turns() { return turns_; }
    const Turns& turns() const { return turns_; }
    OwnRecords& own_records() { return own_; }
    const OwnRecords& own_records() const { return own_; }

    // ---- memory

    // The first time of this run: everything that the log has is put where it belongs.
    void start();
    // Loads a row of the index; it waits for nothing, unless an earlier run leased it.
    EntryNumber admit(const MessageRow& row);
    // The same, and puts it where it belongs.
    void load(const MessageRow& row);
    // Drops a message that the index contains; `leaving` determines what finds it again.
    void drop(EntryNumber number, Leaving leaving = Leaving::to_disk);
    // Drops it, if nothing needs it: its segment is in the index now.
    void sweep(EntryNumber number);

    // ---- changes

    // The timer of the entry fired.
    void wake(EntryNumber number);
    // Puts an entry whose state has just become durable where it belongs: on the wheel, ready, or out of memory.
    void place(EntryNumber number);
    void arm(EntryNumber number, DueMs at);
    // The record of a message is durable. Returns its queue.
    QueueNumber apply(const Operation& operation, const MessageRecord& record);

    // ---- leases

    // A ready message is taken from the ready list.
    void dequeue(EntryNumber number);
    // It was not delivered after all: it is ready again. The caller puts its key back.
    void untake(EntryNumber number);
    // It is delivered, and leased from now on. `late_from_ms`: since when the server could deliver it.
    void start_attempt(EntryNumber number, const LeaseTerms& terms, DueMs late_from_ms);
    // The lease lasts at least until then.
    void extend_lease(EntryNumber number, DueMs until_ms);
    // The record of its attempt does not show its lease: another one will.
    void note_lease(EntryNumber number);
    // This run serves: the leases of earlier ones that have ended last for the grace from now on, and records will say
    // so.
    void begin_grace();
    // Until when this run keeps a recorded lease of an earlier one; 0: it has ended, or is not of an earlier one. A row
    // of the index that is not in memory has such a lease, or none.
    DueMs kept_until(const RecordedLease& recorded) const;
    // Whether this lease of the message ended with the run that granted it.
    bool was_lost_by_restart(EntryNumber number, const LeaseToken& lease) const;
    // The lease was lost or released: the message is due as before.
    void end_lease(EntryNumber number);
    // The same; if a record of the message is being written, once it is durable, as if the lease had expired.
    void give_up_lease(EntryNumber number);
    Leases& leases() { return leases_; }
    const Leases& leases() const { return leases_; }
    std::uint64_t ready_count() const { return ready_count_; }
    // Until when something else than its due time held a ready message back, if a consumer waited for it; otherwise 0.
    DueMs held_back_until(MessageId id) const {
        if (held_back_.empty()) return 0;
        const auto found = held_back_.find(id);
        return found == held_back_.end() ? 0 : found->second;
    }

    // ---- attempts

    // The rule of a message, or of its queue if it has none of its own.
    const RetryRule& retry_rule(const Entry& entry) const;
    // Attempts started that count against the rule.
    std::uint32_t attempts_counted(const Entry& entry) const;
    bool is_used_up(const Entry& entry) const;
    // Its cancel was requested while it was leased, so it can only end now.
    bool is_cancel_due(const Entry& entry) const {
        return entry.waits_for != WaitsFor::lease && recent_.work(entry).cancel_requested;
    }

    // ---- expiry

    // When the message expires; kNever: never, or it has ended.
    DueMs expiry(EntryNumber number) const;
    // It has expired and is not leased.
    bool has_expired(EntryNumber number) const;
    // Removes the message from everything that could deliver it, and has its end written.
    void begin_expiry(EntryNumber number);
    // The first expiry, or deadline of a prepared message, that has come and is not recorded; kNever: there is none.
    DueMs unsettled_from_ms() const;

    // ---- purges

    bool is_purged(const Entry& entry) const;
    // True if the entry belongs to a purge: from now on it waits only for its end.
    bool take_for_purge(EntryNumber number);
    // Ends it, with this reply.
    void purge(EntryNumber number, ReplyToken token, Reply with);
    // In memory and not leased: to be purged.
    std::deque<MessageId>& to_purge() { return to_purge_; }
    const std::deque<MessageId>& to_purge() const { return to_purge_; }

    // ---- due work whose content must be read

    DueMessages& due_recurring() { return due_recurring_; }
    const DueMessages& due_recurring() const { return due_recurring_; }
    // Prepared messages whose deadline has passed.
    DueMessages& due_prepared() { return due_prepared_; }
    const DueMessages& due_prepared() const { return due_prepared_; }
    // A due recurring message is in memory.
    bool is_recurring_due() const { return recurring_due_ != 0; }

    void finish(const OrderLookup& lookup, const Stretch& stretch, Generation generation);
    // Verifies every invariant; aborts with a message.
    void check() const;

    static constexpr DueMs kNever = INT64_MAX;

  private:
    // In place of a handle: the timer fired while a record of the message was being written, and takes effect when that
    // is durable.
    static constexpr std::uint64_t kFired = ~std::uint64_t{0};
    static void note_fired(Entry& entry) { entry.timer = kFired; }
    void disarm(EntryNumber number);
    void arm_next(EntryNumber number, DueMs at_ms);
    bool may_leave(EntryNumber number) const;
    void become(EntryNumber number, WaitsFor next);
    WaitsFor next_wait(EntryNumber number) const;
    void rest(EntryNumber number, WaitsFor next, DueMs until_ms);
    void begin_writing(EntryNumber number, WaitsFor next);
    void resume_lease(EntryNumber number);
    void make_ready(EntryNumber number);
    void list_ready(EntryNumber number);
    // If no consumer waits, the next one comes later than that: then it does nothing.
    void note_held_back(EntryNumber number, MessageId id, DueMs until_ms) {
        const Entry& entry = recent_.entry(number);
        if (until_ms <= entry.due_ms || entry.id != id || entry.waits_for != WaitsFor::consumer) return;
        if (!queues_[entry.queue].waiters.empty()) held_back_[id] = until_ms;
    }
    void forget_held_back(MessageId id) {
        if (!held_back_.empty()) held_back_.erase(id);
    }
    void evict(EntryNumber number);
    void unlist(EntryNumber number);
    void place_applied(EntryNumber number, bool keeps_live, bool woken);
    void unsettled_expiry(EntryNumber number);
    void settled_expiry(EntryNumber number);
    void join_line(EntryNumber number);
    bool wait_in_line(EntryNumber number);
    void advance_line(const std::string& name);
    void end_line_lookup(const std::string& name);

    Queues& queues_;
    DueWindow window_;
    OrderLines order_lines_;
    Turns turns_;
    OwnRecords own_;
    DueMs grace_until_ms_ = 0;
    std::uint64_t ready_count_ = 0;
    // Ready messages that something else than their due time held back until then, while a consumer waited: a lease, an
    // earlier message of the order key, or that they were put or moved to a time that had passed.
    boost::unordered_flat_map<MessageId, DueMs> held_back_;
    std::size_t recurring_due_ = 0;  // in memory; each waits for an occurrence
    std::deque<MessageId> to_purge_;
    // Expiries that have come, or that come while the message is leased, and are not recorded.
    std::set<DuePosition> unsettled_expiries_;
    // Deadlines of prepared messages that have come, and are not recorded.
    std::set<DuePosition> unsettled_deadlines_;
    DueMessages due_recurring_;
    DueMessages due_prepared_;
};

}  // namespace duewheel

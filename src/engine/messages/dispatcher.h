// Delivers ready messages to consumers, who wait for them: leases, in turns of queues and namespaces.
//
// A lease is granted at once if its queue has ready messages; otherwise the consumer waits. Its reply may need content
// from the log, and is then sent when that was read. If the time that the log knows is too old for the messages, it is
// also withheld until a commit saves a later one (is_due_saved).
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/commands/command_traits.h"
#include "engine/commands/delivery.h"
#include "engine/core/uses.h"
#include "engine/messages/lifecycle.h"
#include "engine/messages/loader.h"
#include "engine/settings/queues.h"

namespace duewheel {

class Dispatcher : Uses<EngineOptions, RecentTier, ServerTime, EngineCounters, Lookups, RecordCache, TimerLanes,
                        BatchPipeline, OpenSegment, EarlierRuns, LeaseSigner, RunState, Effects, TimeRules> {
  public:
    Dispatcher(const Uses& uses, Queues& queues, Lifecycle& lifecycle, Loader& loader)
        : Uses(uses), queues_(queues), lifecycle_(lifecycle), loader_(loader) {}

    // A consumer gets ready messages, or waits for some.
    void start(const LeaseCommand& command, ReplyToken token);
    // Leases this message, which is ready; its queue is not paused.
    void lease_ready(EntryNumber number, ReplyToken token, const LeaseTerms& terms);
    // The message that the next consumer of the queue would get; null: none is ready in memory. Valid until the next
    // change of the queue. Amortised O(log n).
    const ReadyKey* first_ready(QueueNumber number);
    // Serves one consumer of each queue in turn, until no consumer waits for ready messages or the iteration has
    // delivered its maximum. Serving may mark a queue again (if it continues to read): such marks belong to the next
    // iteration, after the queues that this one did not reach.
    void serve_queues();
    // The last iteration delivered its maximum before it came to all marked queues.
    bool has_more_to_serve() const { return has_more_; }
    // Its timer fired. It still gets messages that became due during the wait, even in its last iteration: it stays for
    // pending reads, like a consumer that does not wait.
    void end_wait(std::uint64_t waiter);

    // As the engine offers them (engine.h).
    void forget(ReplyToken token);
    bool withdraw(ReplyToken token);
    void stop_waiting();

    // A commit has saved the time.
    void deliver_held();
    bool has_held() const { return !held_.empty(); }
    // A batch without records is enough for it. A segment without space for a record is closed all the same.
    bool has_work() const { return has_held(); }
    std::size_t next_bytes() const { return has_held() ? kRecordOverheadMax : 0; }
    static void add_to_batch() {}
    static bool is_idle() { return true; }
    // No commit will: their messages are ready again.
    void refuse_held();

    void finish(DeliveryLookup lookup, const FoundRecords& records, Generation generation);

    std::size_t waiters() const { return waiters_.size(); }
    // Verifies every invariant; aborts with a message.
    void check() const;

  private:
    struct Waiter {
        ReplyToken token = 0;
        QueueNumber queue = 0;
        std::uint32_t max = 1;
        std::uint32_t min = 1;  // it is not served with fewer
        LeaseTerms terms;
        DueMs since_ms = 0;
        TimerHandle timer;
        bool brief = false;  // only until the current read for its queue is done
    };

    std::size_t serve_next(QueueNumber number);
    struct Taken {
        std::vector<ReadyKey> keys;
        bool is_full = false;  // no other message fits into the reply
    };
    Taken take_ready(QueueNumber number, std::uint32_t max);
    void sort_plain(std::vector<ReadyKey>& keys) const;
    void put_back(const std::vector<ReadyKey>& keys);
    void grant(QueueNumber number, const std::vector<ReadyKey>& all, ReplyToken token, const LeaseTerms& terms,
               DueMs consumer_ms);
    DueMs late_from(const Entry& entry, DueMs consumer_ms) const;
    void fill(Delivered& message, std::string_view record_body);
    void finish_delivery(Delivery delivery, const FoundRecords& records);
    void promise(const Delivery& delivery, bool is_promised);
    bool is_due_saved(const Delivery& delivery) const;
    DueMs lapse_to_save(const Entry& entry) const;
    void return_delivery(const Delivery& delivery);
    void add_lateness(Delivered& message);
    void wait_briefly(std::uint64_t number, Waiter& waiter);
    void drop_waiter(std::uint64_t waiter);
    bool is_read_for(const Queue& at) const;
    void drop_brief_waiters(QueueNumber number);

    Queues& queues_;
    Lifecycle& lifecycle_;
    Loader& loader_;
    std::unordered_map<std::uint64_t, Waiter> waiters_;
    std::unordered_map<ReplyToken, std::uint64_t> waiter_of_reply_;
    // The ticket of a delivery whose body is being read.
    std::unordered_map<ReplyToken, std::uint64_t> delivery_of_reply_;
    std::vector<Delivery> held_;  // complete; they wait for a commit with the current time
    std::uint64_t next_waiter_ = 1;
    bool has_more_ = false;
};

}  // namespace duewheel

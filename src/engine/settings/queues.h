// The queues of a shard and their namespaces: names, counts, and whether there is room for more.
//
// A limit that is lowered below the current use ends nothing: further use is refused until it fits again. Puts of
// clients are refused; messages of recurring messages, schedules, watchdogs and checks wait. The messages of the batch
// in construction count too.
//
// A queue is known here as long as it has messages, settings, consumers, or anything in memory that refers to it. Its
// number is reused after that.
//
// The state of its messages changes elsewhere (lifecycle.h), and its settings in settings.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/batch_writer.h"
#include "engine/messages/dead_letters.h"
#include "engine/settings/namespace_table.h"
#include "engine/settings/queue.h"

namespace duewheel {

class Queues : Uses<EngineOptions, RecentTier, ServerTime, EngineCounters, BatchPipeline, OpenSegment, BatchWriter> {
  public:
    using Names = std::map<std::pair<std::string, std::string>, QueueNumber>;

    Queues(const Uses& uses, DeadLetters& dead_letters) : Uses(uses), dead_letters_(dead_letters) {}

    // ---- the queues

    // The queue with this number, which exists from now on.
    Queue& at(QueueNumber number);
    // It exists.
    Queue& operator[](QueueNumber number) { return *queues_[number]; }
    const Queue& operator[](QueueNumber number) const { return *queues_[number]; }
    std::size_t size() const { return queues_.size(); }
    const Names& by_name() const { return by_name_; }
    NamespaceTable& namespaces() { return namespaces_; }
    const NamespaceTable& namespaces() const { return namespaces_; }

    // Has its consumers served by the next iteration.
    void mark(QueueNumber number);
    // The marked queues. Namespaces take turns, with as many queues each as their weight: thousands of queues of one
    // namespace do not delay the only queue of another.
    std::deque<QueueNumber> take_marked();
    // They were taken and not served: before all others.
    void mark_again(const std::deque<QueueNumber>& left);

    // ---- what follows from settings

    // The rule of a queue (kNoQueue: of a future queue) for messages that have none of their own.
    const RetryRule& retry_rule(QueueNumber number) const;
    // The length of a lease for which none is given.
    std::int64_t lease_time(const Queue& at) const;
    // Messages due in one second; 0: no limit.
    // Whether a message may already be in its topic, which only the pusher knows: it looks the ledger up. So a process
    // that dies often makes no dead letters of such a queue; a failure does.
    bool outlasts_lost_leases(QueueNumber number) const;

    // ---- room

    // The disk space that puts may still use. Of several namespaces, each may hold four times that.
    void set_free_bytes(std::uint64_t free_bytes) { free_bytes_ = free_bytes; }
    // Another batch begins.
    void begin_batch() { namespaces_.begin_batch(); }
    // The code of the limit that keeps take_room_to_create() from creating a message now; otherwise empty. `number` is
    // kNoQueue for a future queue, whose limits are not checked.
    ErrorCode why_not_created(QueueNumber number, const std::string& name_space, DueMs nominal_ms);
    // Whether one more message may be put into the queue. A recurring message must leave room for an occurrence:
    // recurring messages that fill the limit would wait forever.
    Status check_room(QueueNumber number, const std::string& name_space, const std::string& queue, bool is_recurring);
    // Checks the same, and counts the message if it may be put. Everything that adds a message calls this, or
    // check_room() and count_put(); checks of prepared messages are beyond the limits, and are only counted.
    Status take_room(QueueNumber number, const std::string& name_space, const std::string& queue);
    // The same for a message that a rule creates for its time `nominal_ms`: it also counts as a put of its namespace,
    // and, if it is overdue by more than `catch_up_after_ms`, keeps to the pace at which the namespace catches up. So
    // one rule with times far in the past cannot fill the log at the expense of other namespaces.
    Status take_room_to_create(QueueNumber number, const std::string& name_space, const std::string& queue,
                               DueMs nominal_ms);
    void count_put(QueueNumber number, const std::string& name_space, const std::string& queue);
    // The number of puts to the queue in the current batch; 0 if there is no batch.
    std::uint64_t& puts_in_batch(Queue& at);

    // Which limit prevents the creation of a queue of this name, which does not exist; if given, after the queue
    // `before`, which does not exist yet either.
    enum class NameLimit : std::uint8_t { none, of_server, of_namespace };
    NameLimit limit_of_names(const std::string& name_space, const std::string& queue,
                             const std::string* before = nullptr);
    Status check_new_queue(const std::string& name_space, const std::string& queue,
                           const std::string* before = nullptr);
    // Room for another name is needed. If names are kept only because of records in the open segment, it is closed,
    // full or not, so that they can be removed when it has been swept. O(queues), at most once a second.
    void have_names_released();

    // The namespace of a queue, also of a future one; null if it has no limits.
    Namespace* limited_space(QueueNumber number, std::string_view name_space);
    // Whether a client may put one more message now. If the put is accepted, the caller takes it from `puts`.
    Status check_put_rate(Namespace* space);
    // Whether one more schedule or watchdog may be created in the namespace, which has `used` of them and is limited to
    // `quota`; `what` is a noun for one of them.
    Status check_quota(std::string_view name_space, std::uint64_t Namespace::*used,
                       std::uint64_t NamespaceSettings::*quota, ErrorCode code, const std::string& what);

    // ---- names

    // Names of queues that hold nothing, have no settings and are not in use are removed, so that a name that is used
    // once does not use memory forever. `swept`: the recent tier holds no outcomes of records up to that segment any
    // more, so nothing in memory refers to a queue whose newest record is in it. O(queues), once a segment.
    void release_names(SegmentNumber swept);
    // The last consumer of a queue without messages has left.
    void release_if_only_waited_for(QueueNumber number);

    // ---- counts

    // A message of the queue, whose record has this size, enters or leaves this durable state.
    static void count_into_queue(Queue& at, State state, std::uint32_t record_bytes);
    static void count_out_of_queue(Queue& at, State state, std::uint32_t record_bytes);
    // A message of the queue is leased (1), or no longer (-1).
    static void count_lease(Queue& at, int by) {
        at.leased_count += static_cast<std::uint32_t>(by);
        at.space->leased += static_cast<std::uint64_t>(std::int64_t{by});
    }
    // Whether one more message of the queue may be leased, if `all` are.
    bool may_lease(const Queue& at, std::uint64_t all) const {
        return at.space == nullptr ||
               namespaces_.may_use_one(*at.space->name, at.space->leased, all, options_.leased_max);
    }
    // Counts an event of a queue, also in the totals of all queues.
    void count_in(QueueNumber number, std::uint64_t QueueTotals::*what, std::uint64_t by = 1);
    const QueueTotals& totals() const { return totals_; }
    // The earliest of the messages in memory that are due and have not ended; null if there is none. Amortised
    // O(log n).
    const FiredKey* first_fired(Queue& at) const;

    // Compares the counts with the queues; returns a text for the first difference, or null. `sums`: the schedules and
    // watchdogs of each namespace.
    const char* find_miscount(std::map<std::string_view, NamespaceAnswer> sums) const;

    // ---- records of settings

    void add_settings(QueueNumber number, const QueueSettings& settings, ReplyToken token, Reply with);
    void add_settings(Namespace& space, const NamespaceSettings& settings, ReplyToken token, Reply with);

  private:
    bool is_full(QueueNumber number, std::uint64_t more);
    bool is_behind(DueMs nominal_ms) const;
    Status check_share_of_disk(QueueNumber number, const std::string& name_space);
    Error refuse_name();
    void list_name(QueueNumber number);
    bool needs_name(const Queue& at) const;
    void release_name(QueueNumber number);

    DeadLetters& dead_letters_;
    NamespaceTable namespaces_;
    std::vector<std::unique_ptr<Queue>> queues_;
    Names by_name_;
    DueMs names_checked_at_ms_ = 0;  // whether any could be released
    std::vector<QueueNumber> marked_;
    QueueTotals totals_;  // of all queues, including forgotten ones
    std::uint64_t free_bytes_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace duewheel

// One connection of the beanstalkd protocol: the tube it uses, the tubes it watches, the jobs it has reserved, and the
// commands in progress.
//
// Commands are executed one after the other, but those that change one job each may be in progress together if they are
// about different jobs, because their order makes no difference to their replies: so a client that does not wait for
// replies shares a commit. Replies are sent in the order of the commands.
//
// A reserved job is leased for longer than its TTR, and the session ends the lease when the TTR has passed; the lease
// ends by itself only if the server dies. A job that times out counts as released, so it is never a dead letter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "beanstalk/beanstalk_command.h"
#include "beanstalk/beanstalk_service.h"
#include "net/stream_server.h"

namespace duewheel {

class BeanstalkSession final : public StreamSession {
  public:
    BeanstalkSession(BeanstalkService& service, std::uint64_t number, StreamClient& client);
    // Its reserved jobs return to their queues.
    ~BeanstalkSession() override;
    BeanstalkSession(const BeanstalkSession&) = delete;
    BeanstalkSession& operator=(const BeanstalkSession&) = delete;

    std::size_t consume(std::string_view bytes) override;
    // A client that has left does not wait for a job.
    bool owes_replies() const override { return !slots_.empty() && !reserve_; }

  private:
    friend class BeanstalkService;
    using SlotNumber = std::uint64_t;
    struct Slot {
        std::string reply;
        bool is_complete = false;
        MessageId changes = 0;  // the job, if other commands may be in progress meanwhile
    };
    struct Job {
        LeaseToken lease;
        std::string tube;
        std::int64_t ttr_ms = 0;
        std::int64_t until_ms = 0;        // monotonic: it times out
        std::int64_t lease_until_ms = 0;  // likewise, not later than that of the engine
        bool is_ending = false;           // a delete, release or bury is in progress
    };
    // A reserve in progress.
    struct Reserve {
        SlotNumber slot = 0;
        std::optional<std::int64_t> until_ms;  // none: without a timeout
        std::vector<std::string> to_try;       // tubes that are asked one after the other, the last one first
        bool is_waiting = false;               // in all tubes at once
        std::map<ReplyToken, std::string> asked;
    };
    struct Kick {
        SlotNumber slot = 0;
        std::string tube;
        std::uint32_t left = 0;
        std::uint32_t kicked = 0;
        std::size_t in_progress = 0;
        bool of_delayed = false;
    };
    struct Tubes {
        SlotNumber slot = 0;
        std::set<std::string> names;
    };

    // ---- replies
    SlotNumber begin_reply(MessageId changes = 0);
    void reply(SlotNumber slot, std::string_view text);
    void reply_document(SlotNumber slot, const std::string& document);
    void refuse(SlotNumber slot);
    void flush();

    // ---- commands
    void account_held_bytes();
    void become(bool& role, std::uint64_t& count);
    bool may_begin(const BeanstalkCommand& command) const;
    void run(BeanstalkCommand command);
    void put(SlotNumber slot, BeanstalkCommand command);
    void remove(SlotNumber slot, MessageId id);
    void find_to_cancel(SlotNumber slot, MessageId id);
    void cancel(SlotNumber slot, MessageId id);
    void release(SlotNumber slot, const BeanstalkCommand& command);
    void bury(SlotNumber slot, const BeanstalkCommand& command);
    void touch(SlotNumber slot, MessageId id);
    void end_lease(SlotNumber slot, MessageId id, Command command, std::string_view done);
    void use(SlotNumber slot, const std::string& tube);
    void watch(SlotNumber slot, const std::string& tube);
    void ignore(SlotNumber slot, const std::string& tube);
    void kick(SlotNumber slot, std::uint32_t bound);
    void list_to_kick(Kick kick);
    void kick_listed(Kick kick, const ListAnswer& page);
    void redrive(Kick kick);
    void kick_job(SlotNumber slot, MessageId id);
    void change_for_kick(SlotNumber slot, Command command);
    void finish_kick(const Kick& kick);
    // Replies to a command that was carried out when its line is in the audit log.
    void reply_recorded(SlotNumber slot, std::string_view verb, const std::string& tube, std::string text);
    void peek(SlotNumber slot, MessageId id);
    void peek_ready(SlotNumber slot);
    void peek_state(SlotNumber slot, StateSet states);
    void pause(SlotNumber slot, const BeanstalkCommand& command);
    void stats(SlotNumber slot);
    std::string describe_server(const BeanstalkTotals& totals) const;
    void stats_job(SlotNumber slot, MessageId id);
    void stats_tube(SlotNumber slot, const std::string& tube);
    void describe_tube(SlotNumber slot, const std::string& tube, const QueueAnswer& queue);
    void list_tubes(SlotNumber slot);
    void list_more_tubes(Tubes tubes, const std::string& after);
    // Calls `then` with whether the tube is there.
    void when_known(const std::string& tube, std::function<void(bool)> then);

    // ---- reserved jobs
    void list_times(MessageId id);
    void unlist_times(MessageId id);
    void reserve(SlotNumber slot, std::optional<std::int32_t> timeout_s);
    std::vector<std::string> tubes_to_try(const BeanstalkPort::FirstReady& first);
    void try_next_tube();
    void wait_in_all_tubes();
    void ask_tube(const std::string& tube, bool waits);
    void take_lease(ReplyToken token, Reply reply);
    // Takes the job over; returns the reply.
    std::string take_job(Delivered job, const std::string& tube);
    void reserve_job(SlotNumber slot, MessageId id);
    void end_reserve(std::string_view text);
    void end_wait();
    void stop_waiting();
    void withdraw_reserve();
    void tube_changed();
    std::int64_t nearest_timeout() const;
    void time_out_jobs(std::int64_t now_ms);
    void extend_leases(std::int64_t now_ms);
    void drop_job(MessageId id);

    // ---- called by the service
    std::int64_t next_wakeup_ms() const;
    void run_due(std::int64_t now_ms);
    void stop();

    std::int64_t now_ms() const { return service_.now_ms_(); }

    BeanstalkService& service_;
    const std::uint64_t number_;
    StreamClient& client_;
    BeanstalkParser parser_;
    std::size_t held_bytes_ = 0;                            // of parser_, as counted in the service
    std::int64_t job_until_ms_ = BeanstalkService::kNever;  // the job that is being read must have arrived
    std::deque<Slot> slots_;
    SlotNumber first_slot_ = 1;
    std::unordered_set<MessageId> changing_;  // of incomplete slots
    std::optional<BeanstalkCommand> next_;    // waits for the commands before it
    bool runs_alone_ = false;                 // the command in progress
    bool has_quit_ = false;
    bool is_producer_ = false;
    bool is_worker_ = false;
    std::string used_ = "default";
    std::vector<std::string> watched_{"default"};
    std::unordered_map<MessageId, Job> jobs_;
    // When jobs time out, and when their leases are extended; without those that a command in progress ends.
    std::set<std::pair<std::int64_t, MessageId>> timeouts_, extensions_;
    std::optional<Reserve> reserve_;
    std::vector<ReplyToken> in_progress_;  // commands
    std::int64_t wakeup_ms_ = BeanstalkService::kNever;
};

}  // namespace duewheel

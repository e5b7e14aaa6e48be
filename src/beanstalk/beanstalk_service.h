// The beanstalkd protocol on the queues of the namespace "default": a tube is a queue, a job is a message, its time to
// run (TTR) is the time of its lease, and a buried job is a held message. docs/beanstalk.md describes what differs from
// beanstalkd.
//
//     connection ──bytes──► session ──command──► BeanstalkPort (engine)
//         ▲                    │ ▲                     │
//         └──────replies───────┘ └───────reply─────────┘
//
// This class has what sessions share: replies of the engine find their session here, the clock, tubes and counts.
// It reads no clock and no socket. An idle session costs nothing: what ends at a time is in one order for all sessions.
// For one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "beanstalk/beanstalk_command.h"
#include "beanstalk/beanstalk_port.h"
#include "beanstalk/beanstalk_tubes.h"
#include "net/stream_server.h"

namespace duewheel {

class BeanstalkSession;

// What stats reports about the process.
struct BeanstalkProcess {
    std::uint64_t pid = 0;
    std::int64_t user_us = 0;  // processor time
    std::int64_t system_us = 0;
};

struct BeanstalkOptions {
    std::size_t job_bytes_max = 65'535;
    // The size of the unfinished jobs of all clients; the put that exceeds it gets OUT_OF_MEMORY.
    std::size_t unfinished_bytes_max = std::size_t{256} << 20;
    // From the line of a put to the end of its job. Then the connection is closed.
    std::int64_t job_deadline_ms = 60'000;
    std::string version;
    std::string instance;  // identifies the data directory: `id` of stats
    std::string hostname;
    std::string os;
    std::string platform;
    std::function<BeanstalkProcess()> process = [] { return BeanstalkProcess(); };
};

struct BeanstalkCounters {
    std::array<std::uint64_t, kBeanstalkVerbs> commands{};
    std::uint64_t connections = 0;     // in all
    std::uint64_t jobs = 0;            // put
    std::uint64_t timeouts = 0;        // of jobs
    std::uint64_t other_protocol = 0;  // connections that spoke one, and were closed
};

class BeanstalkService {
  public:
    static constexpr std::int64_t kNever = INT64_MAX;

    // The port outlives it. `now_ms` is a monotonic clock in milliseconds.
    BeanstalkService(BeanstalkPort& port, BeanstalkOptions options, std::function<std::int64_t()> now_ms);
    ~BeanstalkService();

    // The session must be destroyed when its connection is closed, and before this service.
    std::unique_ptr<BeanstalkSession> open(StreamClient& client);

    // Ends what has timed out; returns when to be called again. O(log n) in the number of sessions for each that has
    // something to end.
    std::int64_t run_due();

    // From now on puts are refused (DRAINING).
    void drain() { is_draining_ = true; }
    // Ends all sessions after their replies in progress; their jobs return to their queues.
    void stop();

    std::size_t sessions() const { return sessions_.size(); }
    const BeanstalkCounters& counters() const { return counters_; }

  private:
    friend class BeanstalkSession;
    using SessionNumber = std::uint64_t;
    using Then = std::function<void(Reply)>;
    struct Waiting {
        BeanstalkSession* session = nullptr;
        Then then;
    };
    // A reserved job is found by its id, for its time left.
    std::int64_t time_left_ms(MessageId id) const;

    // A reply to a command of a session. Leases that no session waits for are returned to their queues.
    void receive(ReplyToken token, Reply reply);
    ReplyToken submit(BeanstalkSession& session, Command command, Then then);
    void forget(ReplyToken token);
    // False: no session waits for this reply.
    bool drop_waiting(ReplyToken token);
    // The reply is of no interest; a lease in it is returned.
    void submit_unattended(Command command);
    void give_back(const LeaseAnswer& answer);
    // After each change of what the session ends at a time.
    void schedule(BeanstalkSession& session);
    std::int64_t end_pauses(std::int64_t now_ms);
    void closed(BeanstalkSession& session);
    // `then` for a call of the port: it does nothing if the session has ended by then.
    template <class Result>
    std::function<void(const Result&)> while_open(SessionNumber number, std::function<void(const Result&)> then) {
        return [this, number, then = std::move(then)](const Result& result) {
            const auto found = sessions_.find(number);
            if (found == sessions_.end()) return;
            then(result);
            schedule(*found->second);
        };
    }
    // A command of the session that changes a tube was refused.
    void record_refused(const BeanstalkSession& session, std::string_view verb, const std::string& tube,
                        ErrorCode code);
    // One was carried out. `then` gets whether its line is in the audit log, and is not called if the session has
    // ended.
    void record(BeanstalkSession& session, std::string_view verb, const std::string& tube,
                std::function<void(bool)> then);

    BeanstalkPort& port_;
    const BeanstalkOptions options_;
    const std::function<std::int64_t()> now_ms_;
    const std::int64_t started_ms_;
    BeanstalkTubes tubes_;
    BeanstalkCounters counters_;
    bool is_draining_ = false;
    std::size_t unfinished_bytes_ = 0;
    // Sessions that have put a job, that have reserved one, and that wait in a reserve.
    std::uint64_t producers_ = 0;
    std::uint64_t workers_ = 0;
    std::uint64_t reserving_ = 0;
    std::map<SessionNumber, BeanstalkSession*> sessions_;
    std::set<std::pair<std::int64_t, SessionNumber>> wakeups_;
    std::set<std::string> paused_;  // tubes
    std::unordered_map<ReplyToken, Waiting> waiting_;
    std::unordered_map<MessageId, BeanstalkSession*> reserved_;
    ReplyTokens tokens_;
    SessionNumber next_session_ = 1;
};

}  // namespace duewheel

// Server-sent events: the state of the server for clients that show it live (`GET /v1/events`).
//
// What the events contain is computed once for all clients, up to twice a second, and only while there are clients. On
// a server whose number of queues is so large that this takes longer than a hundredth of that time, it happens less
// often. A client that reads slowly misses events: it gets the newest state later, never a queue of old ones. Log lines
// are not missed as long as they are among the recent ones (recent_log.h).
//
// A stream is closed when its token is changed, removed or expires, or its session ends. On the loop's thread only.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "access/dashboard_sessions.h"
#include "base/status.h"
#include "http_api/access/access_right.h"
#include "http_api/calls/recent_log.h"
#include "net/http/http_server.h"
#include "port/command_port.h"

namespace duewheel {

inline constexpr std::size_t kEventStreamsMax = 64;
inline constexpr std::size_t kEventStreamsOfTokenMax = 8;

// The events that a client wants: bits, in the order of kEventNames.
using EventSet = std::uint8_t;
inline constexpr std::array<std::string_view, 4> kEventNames = {"stats", "queues", "lateness", "log"};
inline constexpr EventSet kAllEvents = (1u << kEventNames.size()) - 1;

// The parameter `only` of a request: names, separated by commas. Code: bad_parameter.
Result<EventSet> read_event_set(std::string_view only);

class EventStreams {
  public:
    static constexpr std::int64_t kTickNs = 500'000'000;
    static constexpr std::int64_t kHeartbeatNs = 15'000'000'000;
    static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

    // `stats` writes the document of GET /v1/stats. `log`: null for none. All outlive this.
    EventStreams(const CommandPort& port, std::function<std::string()> stats, const RecentLog* log,
                 DashboardSessions& sessions);

    // Whether one more stream may be opened. Code: stream_limit.
    Status admit(const AccessRight& right);
    // Sends the state at once. `last_event_id` is that of the request, or empty.
    void open(HttpStream stream, EventSet wanted, AccessRight right, std::string_view last_event_id,
              std::int64_t now_ns);
    // Sends what is due at `now_ns` by the monotonic clock; returns when to call it again, kNever without streams.
    std::int64_t run_due(std::int64_t now_ns);
    // Ends all streams; from now on none is admitted.
    void stop();

    std::size_t size() const { return streams_.size(); }

  private:
    struct Stream {
        HttpStream http;
        EventSet wanted = kAllEvents;
        AccessRight right;
        std::uint64_t log_line = 0;    // the newest that it has
        bool needs_all_queues = true;  // at the start, and after an event was missed
        std::int64_t written_ns = 0;
    };

    void end_some();
    bool may_stay(const AccessRight& right);
    void refresh();
    std::string queue_rows(bool only_changed) const;
    void send(Stream& to, bool is_new, std::int64_t now_ns);
    void send_log(Stream& to, std::int64_t now_ns);
    bool write(Stream& to, std::size_t event, std::string_view data, std::int64_t now_ns);

    struct QueueRow {
        std::string text;
        bool has_changed = false;
    };

    const CommandPort& port_;
    const std::function<std::string()> stats_;
    const RecentLog* log_;
    DashboardSessions& sessions_;
    std::vector<Stream> streams_;
    bool stopped_ = false;
    std::int64_t next_ns_ = 0;

    // The state as of the last refresh.
    std::string stats_text_;
    std::vector<QueueRow> rows_;
    std::unordered_map<std::string, std::string> row_texts_;  // by queue
    bool has_more_queues_ = false;
    DueMs lateness_row_ms_ = 0;  // the start of the newest complete row
    std::string lateness_text_;
    bool has_new_lateness_ = false;
};

}  // namespace duewheel

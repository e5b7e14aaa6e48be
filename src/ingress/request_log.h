// What the operator's log tells of requests: a sample of them, slow ones, and those refused at a limit.
//
// A log is no place for each request: refusals and slow requests come by the thousand when something is wrong, and then
// a line each would be one more load. So of each kind one line is written, which says how many there were since the
// last. Lease tokens are left out of paths: whoever has one may end the lease.
//
// Of the loop's thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "ingress/audit_subject.h"
#include "net/http_message.h"

namespace duewheel {

struct RequestLogOptions {
    std::uint32_t every = 0;      // every so many requests one is logged; 0: none
    std::int64_t slow_ms = 1000;  // a request that takes longer is logged, the wait it asked for apart; 0: none
};

// What is kept of a request while it waits for its answer.
struct RequestNote {
    std::string method;
    std::string path;  // as it is logged
    std::string remote_address;
    std::string token_id;          // of the access token that it was made with; empty: none
    std::string certificate_name;  // of the client's certificate, the first one; empty: none
    std::string traceparent;       // empty: none, or malformed
    std::int64_t start_ns = 0;
    std::int64_t wait_ms = 0;           // that it asked for
    std::optional<AuditSubject> audit;  // of a request that the audit log records
};

class RequestLog {
  public:
    RequestLog(LogSink& log, const RequestLogOptions& options) : log_(log), options_(options) {}

    // Of a request that arrived at `now_ns` by the monotonic clock.
    static RequestNote note(const HttpRequest& request, std::int64_t now_ns);

    // Once for each request that was answered. `code` is empty where it was not refused.
    void answered(const RequestNote& note, int status, std::string_view code, std::int64_t now_ns);
    // A request that the HTTP server refused by itself.
    void refused(int status, std::string_view code, std::int64_t now_ns);

  private:
    // How many lines of a kind were held back since its last one.
    struct Kind {
        std::int64_t next_line_ns = 0;
        std::uint64_t count = 0;
    };

    // How many there were since the last line, this one included; 0: no line now.
    std::uint64_t due(std::string_view kind, std::int64_t interval_ns, std::int64_t now_ns);

    LogSink& log_;
    const RequestLogOptions options_;
    std::uint64_t until_sample_ = 0;
    std::map<std::string_view, Kind> kinds_;  // by error code, which are string literals
};

}  // namespace duewheel

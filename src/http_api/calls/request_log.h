// The log lines of requests: a sample of them, slow ones, and those refused at a limit.
//
// A log is not meant for every request: when something is wrong, refusals and slow requests come by the thousand, and a
// line for each would add to the load. So for each kind one line is written, with the number of requests since the last
// one. Lease tokens are removed from paths, because the holder of a token can end the lease.
//
// For the thread of the HTTP server.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "http_api/access/audit_subject.h"
#include "net/http/http_message.h"

namespace duewheel {

struct RequestLogOptions {
    std::uint32_t every = 0;      // one of this many requests is logged; 0: none
    std::int64_t slow_ms = 1000;  // a longer request is logged, without the wait that it asked for; 0: none
};

// The start of a path without lease tokens and access tokens. Linear.
std::string path_to_log(std::string_view received_path);

// What is kept of a request until its response.
struct RequestNote {
    std::string method;
    std::string received_path;  // its start; may contain a secret, so only path_to_log() of it is shown
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

    // For a request that arrived at `now_ns` by the monotonic clock.
    static RequestNote note(const HttpRequest& request, std::int64_t now_ns);

    // Once for each answered request. `code` is empty if it was not refused.
    void answered(const RequestNote& note, int status, ErrorCode code, std::int64_t now_ns);
    // A request that the HTTP server itself refused.
    void refused(int status, ErrorCode code, std::int64_t now_ns);

  private:
    // The number of suppressed lines of a kind since its last one.
    struct Kind {
        std::int64_t next_line_ns = 0;
        std::uint64_t count = 0;
    };

    // The number since the last line, including this one; 0: no line now.
    std::uint64_t due(std::string_view kind, std::int64_t interval_ns, std::int64_t now_ns);

    LogSink& log_;
    const RequestLogOptions options_;
    std::uint64_t until_sample_ = 0;
    std::map<std::string_view, Kind> kinds_;  // by the name of an error code or event: literals
};

}  // namespace duewheel

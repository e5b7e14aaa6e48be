// Sends the responses of the HTTP API: with the traceparent of the request, logged, and counted if they refuse access.
// It is the one place that passes requests to the audit log.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/status.h"
#include "http_api/calls/request_log.h"
#include "net/http/http_server.h"

namespace duewheel {

struct HttpApiOptions;

// Refusals of access since the start, by their code.
struct AccessRefusals {
    std::uint64_t token_required = 0;
    std::uint64_t bad_token = 0;
    std::uint64_t token_expired = 0;
    std::uint64_t forbidden = 0;
    std::uint64_t too_many_requests = 0;
    std::uint64_t too_many_failed_tokens = 0;
};

class ApiResponder {
  public:
    // Options and log outlive it.
    ApiResponder(const HttpApiOptions& options, LogSink& log);

    // `code` is that of a refusal. The response of an administrative request is sent after its line is in the audit
    // log.
    void answer(HttpReply reply, const RequestNote& note, HttpResponse response, ErrorCode code = ErrorCode::none);
    void refuse(HttpReply reply, const RequestNote& note, const Error& error);
    // The response has no end: only its head is logged.
    void note_stream(const RequestNote& note, int status, std::int64_t now_ns) {
        log_.answered(note, status, {}, now_ns);
    }
    // The HTTP server itself refused the request.
    void note_refused(int status, ErrorCode code);

    const AccessRefusals& access_refusals() const { return access_refusals_; }

  private:
    void send(HttpReply reply, const RequestNote& note, HttpResponse response, ErrorCode code);
    void count_refusal(ErrorCode code);

    const HttpApiOptions& options_;
    RequestLog log_;
    AccessRefusals access_refusals_;
};

// The audit log cannot be written. `what_happened` to the request.
Error audit_unavailable(const std::string& what_happened);

}  // namespace duewheel

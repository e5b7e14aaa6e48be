#include "http_api/api_responder.h"

#include <memory>
#include <utility>

#include "base/error_codes.h"
#include "http_api/access/audit_subject.h"
#include "http_api/http_api.h"
#include "http_api/problem.h"
#include "shared/system_clock.h"

namespace duewheel {

Error audit_unavailable(const std::string& what_happened) {
    return {"audit_unavailable"_code,
            "the audit log cannot be written, for example because the disk is full: " + what_happened};
}

ApiResponder::ApiResponder(const HttpApiOptions& options, LogSink& log)
    : options_(options), log_(log, options.requests) {}

void ApiResponder::answer(HttpReply reply, const RequestNote& note, HttpResponse response, ErrorCode code) {
    const bool is_refusal_of_access =
        response.status == 401 || response.status == 403 || code == "too_many_failed_tokens"_code;
    const bool is_recorded = options_.audit != nullptr && code != "audit_unavailable"_code;
    const bool is_refused_act = note.audit && code != ErrorCode::none;
    if (is_recorded && (is_refusal_of_access || is_refused_act)) {
        options_.audit->record_limited(audit_entry(note, code, options_.server_ms()));
    }
    if (!is_recorded || is_refusal_of_access || is_refused_act || !note.audit) {
        return send(std::move(reply), note, std::move(response), code);
    }
    struct Held {
        HttpReply reply;
        RequestNote note;
        HttpResponse response;
        ErrorCode code = ErrorCode::none;
    };
    // Shared, because a std::function is copyable.
    const auto held = std::make_shared<Held>(Held{std::move(reply), note, std::move(response), code});
    options_.audit->record(audit_entry(note, code, options_.server_ms()), [this, held](bool is_written) {
        if (!is_written && held->code == ErrorCode::none) {
            const Error error = audit_unavailable(
                "the request was carried out, and its line will be written later; check the result before you repeat "
                "the request");
            held->response = problem(error);
            held->code = error.code;
        }
        send(std::move(held->reply), held->note, std::move(held->response), held->code);
    });
}

void ApiResponder::send(HttpReply reply, const RequestNote& note, HttpResponse response, ErrorCode code) {
    if (!note.traceparent.empty()) response.headers.push_back({"traceparent", note.traceparent});
    const int status = response.status;
    reply.answer(std::move(response));
    count_refusal(code);
    log_.answered(note, status, code, monotonic_now_ns());
}

void ApiResponder::refuse(HttpReply reply, const RequestNote& note, const Error& error) {
    answer(std::move(reply), note, problem(error), error.code);
}

void ApiResponder::note_refused(int status, ErrorCode code) {
    log_.refused(status, code, monotonic_now_ns());
}

void ApiResponder::count_refusal(ErrorCode code) {
    if (code == "token_required"_code) ++access_refusals_.token_required;
    if (code == "bad_token"_code) ++access_refusals_.bad_token;
    if (code == "token_expired"_code) ++access_refusals_.token_expired;
    if (code == "forbidden"_code) ++access_refusals_.forbidden;
    if (code == "too_many_requests"_code) ++access_refusals_.too_many_requests;
    if (code == "too_many_failed_tokens"_code) ++access_refusals_.too_many_failed_tokens;
}

}  // namespace duewheel

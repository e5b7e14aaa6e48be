#include "http_api/problem.h"

#include <algorithm>

#include "shared/utf8.h"

namespace duewheel {
namespace {

constexpr ProblemKind kKinds[] = {
    {"already_cancelled", 409, "Already cancelled"},
    {"already_committed", 409, "Already committed"},
    {"already_dead", 409, "Already a dead letter"},
    {"already_delivered", 409, "Already acknowledged"},
    {"already_expired", 409, "Already expired"},
    {"already_rolled_back", 409, "Already rolled back"},
    {"already_waiting", 409, "Neither held nor a dead letter"},
    {"audit_unavailable", 503, "Audit log unavailable"},
    {"bad_base64", 400, "Invalid base64"},
    {"bad_certificate_name", 400, "Invalid certificate name"},
    {"bad_content_type", 400, "Invalid media type"},
    {"bad_cron", 400, "Invalid cron expression"},
    {"bad_cursor", 400, "Invalid cursor"},
    {"bad_duration", 400, "Invalid duration"},
    {"bad_exclusion", 400, "Invalid list of days"},
    {"bad_id", 400, "Invalid message id"},
    {"bad_instant", 400, "Invalid instant"},
    {"bad_interval", 400, "Invalid repeating interval"},
    {"bad_json", 400, "Invalid JSON"},
    {"bad_kafka_target", 400, "Invalid Kafka target"},
    {"bad_key", 400, "Invalid idempotency key"},
    {"bad_lease_token", 400, "Invalid lease token"},
    {"bad_max", 400, "Out of range"},
    {"bad_message_header", 400, "Invalid message header"},
    {"bad_namespace", 400, "Invalid namespace name"},
    {"bad_order_key", 400, "Invalid order key"},
    {"bad_parameter", 400, "Invalid parameter"},
    {"bad_path", 400, "Invalid path"},
    {"bad_policy", 400, "Invalid policy"},
    {"bad_queue_name", 400, "Invalid queue name"},
    {"bad_request", 400, "Invalid HTTP request"},
    {"bad_schedule_name", 400, "Invalid schedule name"},
    {"bad_scope", 400, "Invalid scope"},
    {"bad_state", 400, "Invalid state"},
    {"bad_token", 401, "Invalid token"},
    {"bad_token_id", 400, "Invalid token id"},
    {"bad_utf8", 400, "Invalid UTF-8"},
    {"bad_watchdog_name", 400, "Invalid watchdog name"},
    {"bad_webhook_header", 400, "Invalid webhook header"},
    {"bad_webhook_secret", 400, "Invalid webhook secret"},
    {"bad_webhook_url", 400, "Invalid webhook URL"},
    {"bad_zone", 400, "Invalid time zone"},
    {"batch_too_large", 413, "Too many at once"},
    {"body_too_large", 413, "Body too large"},
    {"certificate_name_taken", 409, "Certificate name in use"},
    {"clock_not_held", 409, "No clock jump to accept"},
    {"conflicting_members", 400, "Conflicting members"},
    {"delay_too_long", 400, "Too far in the future"},
    {"duplicate_member", 400, "Duplicate member"},
    {"duplicate_parameter", 400, "Duplicate parameter"},
    {"expectation_failed", 417, "Expectation failed"},
    {"expires_too_soon", 400, "Expires before it is due"},
    {"forbidden", 403, "Forbidden"},
    {"forbidden_address", 400, "Forbidden webhook address"},
    {"foreign_host", 403, "Unknown host name"},
    {"foreign_origin", 403, "Forbidden origin"},
    {"gone", 410, "Gone"},
    {"header_too_large", 431, "Header too large"},
    {"headers_too_large", 400, "Message headers too large"},
    {"http_version", 505, "HTTP version not supported"},
    {"in_flight", 409, "Leased by a consumer"},
    {"internal", 500, "Internal server error"},
    {"kafka_loop", 400, "Kafka loop"},
    {"kafka_not_configured", 400, "Kafka not configured"},
    {"key_conflict", 409, "Key used by another request"},
    {"last_admin", 409, "Last admin token"},
    {"lease_ended", 409, "Lease already ended"},
    {"lease_too_long", 400, "Lease too long"},
    {"lease_too_short", 400, "Lease too short"},
    {"log_unavailable", 503, "Log unavailable"},
    {"method_not_allowed", 405, "Method not allowed"},
    {"missing_member", 400, "Missing member"},
    {"missing_parameter", 400, "Missing parameter"},
    {"namespace_full", 429, "Namespace full"},
    {"namespace_limit", 429, "Too many namespaces"},
    {"negative_duration", 400, "Negative duration"},
    {"never_due", 400, "Never due"},
    {"no_owner", 503, "No owner"},
    {"not_a_test_clock", 409, "No test clock"},
    {"not_implemented", 501, "Not implemented"},
    {"not_transactional", 409, "Not a message of a transaction"},
    {"not_waiting", 409, "Message not waiting"},
    {"other_node", 307, "Another node"},
    {"out_of_range", 400, "Out of range"},
    {"overloaded", 503, "Overloaded"},
    {"queue_full", 429, "Queue full"},
    {"queue_limit", 429, "Too many queues"},
    {"queue_not_empty", 409, "Queue not empty"},
    {"repeats", 409, "Recurring message"},
    {"request_timeout", 408, "Request timeout"},
    {"schedule_limit", 429, "Too many schedules"},
    {"second_full", 429, "Limit per second reached"},
    {"store_full", 507, "Disk nearly full"},
    {"stream_limit", 503, "Too many event streams"},
    {"target_too_long", 414, "Target too long"},
    {"tls_required", 400, "TLS required"},
    {"token_expired", 401, "Token expired"},
    {"token_limit", 429, "Too many tokens"},
    {"token_required", 401, "Token required"},
    {"too_busy", 503, "Too busy"},
    {"too_deep", 400, "Nested too deeply"},
    {"too_many_failed_tokens", 429, "Too many failed tokens"},
    {"too_many_members", 400, "Too many members"},
    {"too_many_puts", 429, "Too many puts"},
    {"too_many_requests", 429, "Too many requests"},
    {"unknown_id", 404, "No such message"},
    {"unknown_key", 404, "No such key"},
    {"unknown_member", 400, "Unknown member"},
    {"unknown_namespace", 404, "No such namespace"},
    {"unknown_parameter", 400, "Unknown parameter"},
    {"unknown_path", 404, "No such path"},
    {"unknown_queue", 404, "No such queue"},
    {"unknown_schedule", 404, "No such schedule"},
    {"unknown_token", 404, "No such token"},
    {"unknown_watchdog", 404, "No such watchdog"},
    {"unsupported_content_coding", 415, "Unsupported content coding"},
    {"unsupported_media_type", 415, "Unsupported media type"},
    {"unsupported_target", 400, "Unsupported target"},
    {"wait_too_long", 400, "Wait too long"},
    {"waiter_limit", 429, "Too many waiting consumers"},
    {"watchdog_limit", 429, "Too many watchdogs"},
    {"wrong_type", 400, "Wrong type"},
};
static_assert(std::is_sorted(std::begin(kKinds), std::end(kKinds),
                             [](const ProblemKind& left, const ProblemKind& right) { return left.code < right.code; }));

constexpr int kRetryAfterSeconds = 1;

}  // namespace

std::span<const ProblemKind> problem_kinds() {
    return kKinds;
}

const ProblemKind* find_problem_kind(std::string_view code) {
    const auto* found =
        std::lower_bound(std::begin(kKinds), std::end(kKinds), code,
                         [](const ProblemKind& kind, std::string_view wanted) { return kind.code < wanted; });
    return found != std::end(kKinds) && found->code == code ? found : nullptr;
}

namespace {

const ProblemKind& kind_of(const Error& error) {
    const ProblemKind* kind = find_problem_kind(error.code);
    return kind != nullptr ? *kind : *find_problem_kind("internal");
}

}  // namespace

void write_problem(JsonWriter& json, const Error& error) {
    const ProblemKind& kind = kind_of(error);
    json.text("type", "about:blank").text("title", kind.title).number("status", kind.status);
    // Both may quote what a client sent, and header fields may contain bytes that are not UTF-8.
    json.text("code", kind.code).text("detail", as_utf8(error.message));
    if (!error.field.empty()) json.text("field", as_utf8(error.field));
}

HttpResponse problem(const Error& error, const std::function<void(JsonWriter&)>& more) {
    const ProblemKind& kind = kind_of(error);
    HttpResponse response;
    response.status = kind.status;
    response.content_type = "application/problem+json";
    JsonWriter json(response.body);
    json.open();
    write_problem(json, error);
    if (more) more(json);
    json.close();
    // RFC 6750, 3.
    if (kind.status == 401) {
        const bool is_invalid = kind.code != "token_required";
        response.headers.push_back({"WWW-Authenticate", is_invalid ? "Bearer error=\"invalid_token\"" : "Bearer"});
    }
    // RFC 9110, 12.5.3: the accepted codings.
    if (kind.code == "unsupported_content_coding") response.headers.push_back({"Accept-Encoding", "identity"});
    if (has_retry_after(kind.status)) {
        response.headers.push_back({"Retry-After", std::to_string(kRetryAfterSeconds)});
    }
    return response;
}

}  // namespace duewheel

// The error codes of the server and its tools: one table with the name of each, and, if a client of the HTTP API can
// receive it, the status and the title of its problem document (RFC 9457).
//
// In the sources a code is its name, `"queue_full"_code`: the compiler looks it up in the table, so a name that the
// table lacks does not compile, and comparisons are comparisons of integers. Names are part of the contract, because
// scripts compare them: they go onto the wire and into the log through name_of(). Numbers are never sent or stored: a
// new row may change them.
//
//     if (status.error().code == "no_space"_code) return wait_for_space();
//     log.warning("unavailable", error.message, {{"code", name_of(error.code)}});
//
// The timer library does not include this header: it has its own codes in <duewheel/status.h>, which are rows here too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

#include "base/status.h"

namespace duewheel {

struct ErrorCodeRow {
    std::string_view name;
    int status = 0;  // of HTTP; 0: no client receives it, it stops a start or a tool, or stays inside the server
    std::string_view title{};  // of the problem document
};

// Sorted by name.
inline constexpr ErrorCodeRow kErrorCodes[] = {
    {"already_cancelled", 409, "Already cancelled"},
    {"already_committed", 409, "Already committed"},
    {"already_dead", 409, "Already a dead letter"},
    {"already_delivered", 409, "Already acknowledged"},
    {"already_exists"},
    {"already_expired", 409, "Already expired"},
    {"already_rolled_back", 409, "Already rolled back"},
    {"already_waiting", 409, "Neither held nor a dead letter"},
    {"audit_log_broken"},
    {"audit_unavailable", 503, "Audit log unavailable"},
    {"bad_address"},
    {"bad_address_block"},
    {"bad_answer"},
    {"bad_base64", 400, "Invalid base64"},
    {"bad_beanstalk_address"},
    {"bad_beanstalk_group"},
    {"bad_certificate_file"},
    {"bad_certificate_name", 400, "Invalid certificate name"},
    {"bad_checksum"},
    {"bad_configuration"},
    {"bad_content_type", 400, "Invalid media type"},
    {"bad_cron", 400, "Invalid cron expression"},
    {"bad_cursor", 400, "Invalid cursor"},
    {"bad_duration", 400, "Invalid duration"},
    {"bad_encryption_key"},
    {"bad_exclusion", 400, "Invalid list of days"},
    {"bad_footer"},
    {"bad_group", 400, "Invalid group"},
    {"bad_header"},
    {"bad_host"},
    {"bad_id", 400, "Invalid message id"},
    {"bad_instant", 400, "Invalid instant"},
    {"bad_interval", 400, "Invalid repeating interval"},
    {"bad_json", 400, "Invalid JSON"},
    {"bad_kafka_client_file"},
    {"bad_kafka_setting"},
    {"bad_kafka_target", 400, "Invalid Kafka target"},
    {"bad_key", 400, "Invalid idempotency key"},
    {"bad_lease_token", 400, "Invalid lease token"},
    {"bad_line"},
    {"bad_max", 400, "Out of range"},
    {"bad_message_header", 400, "Invalid message header"},
    {"bad_min", 400, "Out of range"},
    {"bad_namespace", 400, "Invalid namespace name"},
    {"bad_old_encryption_key"},
    {"bad_order_key", 400, "Invalid order key"},
    {"bad_parameter", 400, "Invalid parameter"},
    {"bad_path", 400, "Invalid path"},
    {"bad_policy", 400, "Invalid policy"},
    {"bad_progress", 400, "Invalid progress"},
    {"bad_queue_name", 400, "Invalid queue name"},
    {"bad_redirect"},
    {"bad_request", 400, "Invalid HTTP request"},
    {"bad_schedule_name", 400, "Invalid schedule name"},
    {"bad_scope", 400, "Invalid scope"},
    {"bad_setting"},
    {"bad_shard_setting"},
    {"bad_size"},
    {"bad_state", 400, "Invalid state"},
    {"bad_tls_certificate"},
    {"bad_tls_client_ca"},
    {"bad_tls_key"},
    {"bad_token", 401, "Invalid token"},
    {"bad_token_id", 400, "Invalid token id"},
    {"bad_topic"},
    {"bad_traceparent"},
    {"bad_trusted_file"},
    {"bad_utf8", 400, "Invalid UTF-8"},
    {"bad_watchdog_name", 400, "Invalid watchdog name"},
    {"bad_webhook_header", 400, "Invalid webhook header"},
    {"bad_webhook_secret", 400, "Invalid webhook secret"},
    {"bad_webhook_url", 400, "Invalid webhook URL"},
    {"bad_worker", 400, "Invalid worker name"},
    {"bad_zone", 400, "Invalid time zone"},
    {"batch_too_large", 413, "Too many at once"},
    {"beanstalk_elsewhere"},
    {"body_too_large", 413, "Body too large"},
    {"cannot_run"},
    {"catching_up"},
    {"certificate_name_taken", 409, "Certificate name in use"},
    {"changed_export"},
    {"checkpoint_too_large", 413, "Checkpoint too large"},
    {"clock_not_held", 409, "No clock jump to accept"},
    {"conflicting_members", 400, "Conflicting members"},
    {"conflicting_options"},
    {"copy_too_old"},
    {"damaged_audit_line"},
    {"damaged_header_value"},
    {"damaged_index"},
    {"damaged_log"},
    {"damaged_mark"},
    {"damaged_record"},
    {"damaged_topic"},
    {"delay_too_long", 400, "Too far in the future"},
    {"duplicate_member", 400, "Duplicate member"},
    {"duplicate_parameter", 400, "Duplicate parameter"},
    {"early"},
    {"expectation_failed", 417, "Expectation failed"},
    {"expired"},
    {"expires_too_soon", 400, "Expires before it is due"},
    {"exposed_token"},
    {"forbidden", 403, "Forbidden"},
    {"forbidden_address", 400, "Forbidden webhook address"},
    {"forbidden_group"},
    {"foreign_host", 403, "Unknown host name"},
    {"foreign_origin", 403, "Forbidden origin"},
    {"gone", 410, "Gone"},
    {"group_backoff"},
    {"group_leased"},
    {"group_limit", 429, "Too many groups with settings"},
    {"group_rate"},
    {"header_too_large", 431, "Header too large"},
    {"headers_too_large", 400, "Message headers too large"},
    {"http_version", 505, "HTTP version not supported"},
    {"in_flight", 409, "Leased by a consumer"},
    {"in_use"},
    {"incomplete_export"},
    {"inside_itself"},
    {"internal", 500, "Internal server error"},
    {"io_error"},
    {"kafka_failed"},
    {"kafka_fenced"},
    {"kafka_login"},
    {"kafka_loop", 400, "Kafka loop"},
    {"kafka_not_configured", 400, "Kafka not configured"},
    {"kafka_refused"},
    {"kafka_unavailable"},
    {"kafka_unknown_outcome"},
    {"key_conflict", 409, "Key used by another request"},
    {"last_admin", 409, "Last admin token"},
    {"lease_ended", 409, "Lease already ended"},
    {"lease_too_long", 400, "Lease too long"},
    {"lease_too_short", 400, "Lease too short"},
    {"log_failed"},
    {"log_fenced"},
    {"log_forked"},
    {"log_is_replicated"},
    {"log_released"},
    {"log_unavailable", 503, "Log unavailable"},
    {"log_went_back"},
    {"made_ready"},
    {"method_not_allowed", 405, "Method not allowed"},
    {"missing_argument"},
    {"missing_body"},
    {"missing_member", 400, "Missing member"},
    {"missing_parameter", 400, "Missing parameter"},
    {"namespace_full", 429, "Namespace full"},
    {"namespace_limit", 429, "Too many namespaces"},
    {"negative_duration", 400, "Negative duration"},
    {"never_due", 400, "Never due"},
    {"never_fires"},
    {"newer_format"},
    {"no_audit_log"},
    {"no_export"},
    {"no_owner", 503, "No owner"},
    {"no_space"},
    {"not_a_backup"},
    {"not_a_data_directory"},
    {"not_a_test_clock", 409, "No test clock"},
    {"not_empty"},
    {"not_found"},
    {"not_implemented", 501, "Not implemented"},
    {"not_leasable"},
    {"not_owner"},
    {"not_transactional", 409, "Not a message of a transaction"},
    {"not_waiting", 409, "Message not waiting"},
    {"other_node", 307, "Another node"},
    {"out_of_range", 400, "Out of range"},
    {"overloaded", 503, "Overloaded"},
    {"port_in_use"},
    {"position_moved"},
    {"position_trimmed"},
    {"purgatory_stopped"},
    {"queue_closed"},
    {"queue_full", 429, "Queue full"},
    {"queue_leased"},
    {"queue_limit", 429, "Too many queues"},
    {"queue_not_empty", 409, "Queue not empty"},
    {"queue_rate"},
    {"record_refused"},
    {"refused"},
    {"repeats", 409, "Recurring message"},
    {"request_cancelled"},
    {"request_stopped"},
    {"request_timeout", 408, "Request timeout"},
    {"same_server"},
    {"schedule_limit", 429, "Too many schedules"},
    {"shards_changed"},
    {"standby"},
    {"stopped"},
    {"store_full", 507, "Disk nearly full"},
    {"stream_limit", 503, "Too many event streams"},
    {"target_too_long", 414, "Target too long"},
    {"timers_full"},
    {"timers_stopped"},
    {"tls_required", 400, "TLS required"},
    {"token_exists"},
    {"token_expired", 401, "Token expired"},
    {"token_limit", 429, "Too many tokens"},
    {"token_required", 401, "Token required"},
    {"too_busy", 503, "Too busy"},
    {"too_deep", 400, "Nested too deeply"},
    {"too_many_failed_tokens", 429, "Too many failed tokens"},
    {"too_many_members", 400, "Too many members"},
    {"too_many_puts", 429, "Too many puts"},
    {"too_many_requests", 429, "Too many requests"},
    {"topic_exists"},
    {"topic_loop"},
    {"topic_not_empty"},
    {"torn_record"},
    {"unknown_encryption_key"},
    {"unknown_id", 404, "No such message"},
    {"unknown_key", 404, "No such key"},
    {"unknown_kind"},
    {"unknown_member", 400, "Unknown member"},
    {"unknown_namespace", 404, "No such namespace"},
    {"unknown_parameter", 400, "Unknown parameter"},
    {"unknown_path", 404, "No such path"},
    {"unknown_queue", 404, "No such queue"},
    {"unknown_schedule", 404, "No such schedule"},
    {"unknown_token", 404, "No such token"},
    {"unknown_topic"},
    {"unknown_watchdog", 404, "No such watchdog"},
    {"unreachable"},
    {"unreadable_body"},
    {"unreadable_file"},
    {"unreadable_token_file"},
    {"unsafe_beanstalk_listen"},
    {"unsafe_data_directory"},
    {"unsafe_key_file"},
    {"unsafe_listen"},
    {"unsafe_token_file"},
    {"unsafe_topic"},
    {"unsupported_content_coding", 415, "Unsupported content coding"},
    {"unsupported_media_type", 415, "Unsupported media type"},
    {"unsupported_target", 400, "Unsupported target"},
    {"untrusted_server"},
    {"wait_too_long", 400, "Wait too long"},
    {"waiter_limit", 429, "Too many waiting requests"},
    {"watchdog_limit", 429, "Too many watchdogs"},
    {"wrong_type", 400, "Wrong type"},
};
static_assert(std::is_sorted(std::begin(kErrorCodes), std::end(kErrorCodes),
                             [](const ErrorCodeRow& left, const ErrorCodeRow& right) {
                                 return left.name < right.name;
                             }));

// Null for an unknown name. A binary search.
constexpr const ErrorCodeRow* find_error_code(std::string_view name) {
    const auto* found =
        std::lower_bound(std::begin(kErrorCodes), std::end(kErrorCodes), name,
                         [](const ErrorCodeRow& row, std::string_view wanted) { return row.name < wanted; });
    return found != std::end(kErrorCodes) && found->name == name ? found : nullptr;
}

// The code that a row of the table describes.
constexpr ErrorCode code_of(const ErrorCodeRow& row) {
    for (std::size_t number = 1; number < std::size(kLibraryErrorNames); ++number) {
        if (kLibraryErrorNames[number] == row.name) return static_cast<ErrorCode>(number);
    }
    return static_cast<ErrorCode>(kFirstApplicationErrorCode + (&row - kErrorCodes));
}

// Null for ErrorCode::none.
constexpr const ErrorCodeRow* row_of(ErrorCode code) {
    const auto number = static_cast<std::size_t>(code);
    if (number < kFirstApplicationErrorCode) return find_error_code(library_name_of(code));
    return number - kFirstApplicationErrorCode < std::size(kErrorCodes)
               ? &kErrorCodes[number - kFirstApplicationErrorCode]
               : nullptr;
}

// Such as "queue_full"; empty for ErrorCode::none.
constexpr std::string_view name_of(ErrorCode code) {
    const ErrorCodeRow* row = row_of(code);
    return row != nullptr ? row->name : std::string_view();
}

// Whether a client of the HTTP API can receive it.
constexpr bool is_for_clients(ErrorCode code) {
    const ErrorCodeRow* row = row_of(code);
    return row != nullptr && row->status != 0;
}

// The text of a literal as an argument of a template.
template <std::size_t Size>
struct ErrorCodeName {
    // Not explicit: the compiler makes it from the literal.
    consteval ErrorCodeName(const char (&literal)[Size]) { std::copy_n(literal, Size, text); }
    char text[Size];
};

// A template, because Clang before 15 calls a consteval operator at run time if it stands in a generic lambda.
template <ErrorCodeName name>
constexpr ErrorCode operator""_code() {
    constexpr const ErrorCodeRow* kRow = find_error_code(name.text);
    static_assert(kRow != nullptr, "the table has no error code of this name");
    constexpr ErrorCode kCode = code_of(*kRow);
    return kCode;
}

// The name, for messages of tests and tools.
template <class Stream>
requires requires(Stream& out, std::string_view text) {
    out << text;
}
Stream& operator<<(Stream& out, ErrorCode code) {
    out << name_of(code);
    return out;
}

}  // namespace duewheel

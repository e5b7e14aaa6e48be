#include "http_api/answers/error_page.h"

#include <iterator>

#include "base/error_codes.h"
#include "http_api/problem.h"

namespace duewheel {
namespace {

constexpr ErrorAdvice kAdvice[] = {
    {"already_cancelled", "The message was cancelled, purged or discarded before: put it again if it is still needed."},
    {"already_committed", "The message was committed, by a call or by default: cancel it if it still waits."},
    {"already_dead", "The message is a dead letter: kick it or discard it."},
    {"already_delivered", "Nothing to do: a consumer has acknowledged the message."},
    {"already_expired", "The message has expired: put it again if it is still needed."},
    {"already_rolled_back",
     "The message was rolled back or cancelled, or has expired: put it again if it is still needed."},
    {"already_waiting", "Nothing to do: the message is neither held nor a dead letter."},
    {"audit_unavailable",
     "Try again after `Retry-After`: the [audit log](security.md#audit-log) cannot be written. `detail` says whether "
     "the request was carried out."},
    {"bad_base64", "Send standard base64 (`+`, `/`, padding) without line breaks."},
    {"bad_certificate_name", "Use a subject alternative name of 1 to 253 visible ASCII characters."},
    {"bad_content_type", "Send a media type such as `text/plain`, up to 256 ASCII characters."},
    {"bad_cron", "Correct the field that `detail` names, with column and suggestion: [calendar](calendar.md#errors)."},
    {"bad_cursor", "Send the cursor of the previous page with the same parameters, or start without one."},
    {"bad_duration",
     "Write a duration as the [rules for all calls](http_api.md#rules-for-all-calls) describe it; `detail` names the "
     "column."},
    {"bad_exclusion", "`closed` is a list of weekdays, days of each year, dates and ranges, up to 4 KiB."},
    {"bad_group", "Use a group of 1 to 256 bytes without control characters."},
    {"bad_id", "Use the id from the response to the put."},
    {"bad_instant",
     "Write an instant as the [rules for all calls](http_api.md#rules-for-all-calls) describe it, with seconds and "
     "offset; `detail` names the column."},
    {"bad_interval", "`iso` is an ISO 8601 repeating interval; `detail` names the column."},
    {"bad_json",
     "Correct the JSON at the line and column (in bytes) that `detail` names. `NaN`, comments and single quotes are "
     "not JSON."},
    {"bad_kafka_target",
     "Correct the member that `field` names: a topic has up to 249 letters, digits and . _ -, and is no internal one "
     "of Kafka or of such a server."},
    {"bad_key", "Choose a key of 1 to 256 bytes of UTF-8 without control characters."},
    {"bad_lease_token", "Use the `lease` from the response of this server's lease call."},
    {"bad_max", "Choose `max` within the range that `detail` names."},
    {"bad_message_header", "Use HTTP tokens as names of headers, and no control characters in their values."},
    {"bad_min", "Choose `min` from 1 to `max`, and give `wait` with it."},
    {"bad_namespace", "Use a name as the [rules for all calls](http_api.md#rules-for-all-calls) describe it."},
    {"bad_order_key", "Use an order key of 1 to 256 bytes without control characters."},
    {"bad_parameter", "Write parameters as `name=value` separated by one `&`, and a percent sign as `%25`."},
    {"bad_path", "Write a percent sign in a path as `%25`."},
    {"bad_policy", "Use one of the words that `detail` lists."},
    {"bad_progress", "Give a number from 0 to 1, or other JSON of up to 1 KiB."},
    {"bad_queue_name", "Use a name as the [rules for all calls](http_api.md#rules-for-all-calls) describe it."},
    {"bad_request", "The bytes are not an HTTP request; `detail` gives the reason. Look for a broken proxy or client."},
    {"bad_schedule_name", "Use a name as the [rules for all calls](http_api.md#rules-for-all-calls) describe it."},
    {"bad_scope", "Give some of the scopes `put`, `read`, `consume`, `cancel`, `schedule` and `admin`."},
    {"bad_state", "Use the states that the call's table lists, separated by commas; `dead` must be alone."},
    {"bad_token",
     "Check that the token is complete, and was not rotated or removed. The response is the same for every invalid "
     "token; a lease that waited when its token was changed names it."},
    {"bad_token_id", "Use 1 to 40 characters of `a-z`, `0-9` and `-`."},
    {"bad_utf8", "Send text as UTF-8, and other bytes as `body_base64`."},
    {"bad_watchdog_name", "Use a name as the [rules for all calls](http_api.md#rules-for-all-calls) describe it."},
    {"bad_webhook_header",
     "Use up to 16 headers, without those that the server sends itself; give values, not the `***` of a response."},
    {"bad_webhook_secret", "Name up to four different secrets from the setting `webhooks.secrets`."},
    {"bad_webhook_url", "Write the URL as `detail` says: `http` or `https`, without user name and password."},
    {"bad_worker", "Use a name of up to 64 bytes without control characters."},
    {"bad_zone", "Use a zone of the IANA database; `detail` has the nearest name."},
    {"batch_too_large", "Send up to 1,000 items, and the rest with the next request."},
    {"body_too_large", "Store the content elsewhere and put its address into the message."},
    {"certificate_name_taken", "Remove the name from the other token first."},
    {"checkpoint_too_large", "Keep what is larger than 16 KiB elsewhere, and put its address into the checkpoint."},
    {"clock_not_held", "Nothing to do: server time follows the wall clock."},
    {"conflicting_members", "Omit one of the members that `detail` names."},
    {"delay_too_long", "Choose a time within the limit."},
    {"duplicate_member", "Give each member, header and field once."},
    {"duplicate_parameter", "Give each parameter once, with several values separated by commas."},
    {"expectation_failed", "Send no `Expect` except `100-continue`."},
    {"expires_too_soon", "Choose an earlier due time, or a later expiry."},
    {"forbidden", "Use a token that has the scope, namespace or queue that `detail` names, or extend this one."},
    {"forbidden_address", "Use a URL with a public address, or [allow](webhooks.md#allowed-addresses) this one."},
    {"foreign_host",
     "Address the server by its IP address or as `localhost`, or add the name to the setting `http.hosts`."},
    {"foreign_origin",
     "Web pages of another site cannot call the server; if the page is yours, add its host to the setting "
     "`http.hosts`, with scheme and port if they are not the usual ones."},
    {"gone",
     "Nothing to do: the message ended longer ago than outcomes are kept. The history of its queue may still have it."},
    {"group_limit",
     "Remove settings of groups that are not needed, or set `groups` of the queue, which is for all of its groups."},
    {"header_too_large", "Send a smaller header."},
    {"headers_too_large", "Use fewer or shorter headers; large content belongs in the body."},
    {"http_version", "Use HTTP/1.1."},
    {"in_flight",
     "A consumer has the message: try again after its lease, or [ask the consumer to "
     "stop](http_api.md#cancel-of-running-work)."},
    {"internal", "Internal server error: report it with the request."},
    {"kafka_loop", "Use a topic that the server does not read (`kafka.in.topics`)."},
    {"kafka_not_configured", "Name the brokers in the setting `kafka.bootstrap`, or use another target."},
    {"key_conflict",
     "Use another key for another message, repeat the same put, or say with [`on_key`](http_api.md#idempotency-keys) "
     "what this one does."},
    {"last_admin", "Create another token with scope `admin`, without `namespaces` and `queues`, first."},
    {"lease_ended",
     "Do not treat the work as done: another consumer may repeat it. Lease for longer, or extend the lease during the "
     "work. A crash of the server can end a lease that was just granted; the detail says so then."},
    {"lease_too_long", "Lease for less, and extend the lease during the work."},
    {"lease_too_short", "Lease for at least a second."},
    {"log_unavailable",
     "Try again after `Retry-After`: the log is [replicated](kafka.md#more-than-one-node), and no broker acknowledges "
     "commits. `detail` says whether nothing was changed, or whether that is not known yet."},
    {"method_not_allowed", "Use one of the methods in the `Allow` field of the response."},
    {"missing_member", "Give one of the members that `detail` names."},
    {"missing_parameter", "Give the parameter that `detail` names."},
    {"namespace_full", "Put, kick or redrive later, add consumers, or raise the namespace's `limits.pending`."},
    {"namespace_limit",
     "Remove the settings of a namespace that does not need them, or raise `limits.namespaces_max`."},
    {"negative_duration", "Use a duration of 0 or more."},
    {"never_due", "The rule has no future time: change the member that the response names."},
    {"no_owner",
     "Send the request again after `Retry-After`: the owner of the namespace's [shard](kafka.md#shards) is not known "
     "at the moment."},
    {"not_a_test_clock", "Start the server with `--test-clock` and a data directory of its own."},
    {"not_implemented", "Use a known method, and no transfer coding except `chunked`."},
    {"not_transactional", "Check the id: the message was put without `transaction`."},
    {"not_waiting", "Kick the message first if it is held; commit it first if it is in a transaction."},
    {"other_node",
     "Send the same request to the URL in `Location`: another [node](kafka.md#more-than-one-node) owns the namespace."},
    {"out_of_range", "Use a number within the range that `detail` names; do not write exponents of ten digits."},
    {"overloaded", "Try again after `Retry-After`: too many requests are unfinished."},
    {"queue_full", "Put, kick or redrive later, add consumers, or raise the queue's `limits.pending`."},
    {"queue_limit",
     "Use existing queues, or raise the limit that `detail` names: `limits.queues_max`, or the namespace's "
     "`limits.queues`."},
    {"queue_not_empty", "Purge the queue and discard its dead letters first, or change its settings instead."},
    {"repeats",
     "The times of a recurring message follow its rule: cancel it and put another, or move a single occurrence."},
    {"request_timeout", "Send the whole request before its deadline."},
    {"schedule_limit",
     "Delete a schedule that is not needed, or raise the limit that `detail` names: `limits.schedules_max`, or the "
     "namespace's `limits.schedules`."},
    {"store_full",
     "Free space on the disk of the data directory; the server then accepts the request again. First only puts are "
     "refused, later [all calls that end no message](http_api.md#a-full-disk). Accepted messages are not lost."},
    {"stream_limit", "Try again after `Retry-After`: close pages of the dashboard that are not needed."},
    {"target_too_long", "Shorten the path and the parameters."},
    {"tls_required", "Use `https` in the URL: the server speaks TLS."},
    {"token_expired", "Use another token, or give this one a later `expires`."},
    {"token_limit", "Remove tokens that are not needed."},
    {"token_required", "Send a token: `Authorization: Bearer dw_...`."},
    {"too_busy", "Try again after `Retry-After`: too many requests wait for the disk."},
    {"too_deep", "Nest less, or send deep JSON as a string in `body`."},
    {"too_many_failed_tokens",
     "Correct the token of the client, and send the request again after `Retry-After`. Valid tokens of the same "
     "address are accepted."},
    {"too_many_members", "Send fewer members."},
    {"too_many_puts", "Put the rest after `Retry-After`, or raise the namespace's `limits.put_rate`."},
    {"too_many_requests", "Send the request again after `Retry-After`, or raise the `limits` of the token."},
    {"unknown_id", "Check the id, the namespace and the server: this id was never issued here."},
    {"unknown_key",
     "Check the key, the queue and the namespace: no message has the key, or it ended longer ago than keys are kept."},
    {"unknown_member", "Check the spelling; `detail` names the nearest member."},
    {"unknown_namespace", "Check the name: the namespace has no content and no settings."},
    {"unknown_parameter",
     "Check the spelling against the table of the call; most calls have a JSON body and no parameters."},
    {"unknown_path", "Correct the path: `detail` names the nearest call, and `/openapi.json` lists all."},
    {"unknown_queue", "Check the name: the queue has no messages and no settings. A put or settings create it."},
    {"unknown_schedule", "Check the name, or create the schedule with a PUT."},
    {"unknown_token", "Check the id, or list the tokens."},
    {"unknown_watchdog", "Check the name, or create the watchdog with a PUT, which also feeds it."},
    {"unsupported_content_coding",
     "Send bodies without `Content-Encoding`; a compressed message has a media type such as `application/gzip`."},
    {"unsupported_media_type", "Send `Content-Type: application/json`, or in a raw put the type of the content."},
    {"unsupported_target", "Use `\"pull\"`, a [webhook](webhooks.md) or a [Kafka topic](kafka.md), or omit `target`."},
    {"wait_too_long", "Wait for up to a minute, and repeat the call."},
    {"waiter_limit",
     "Reduce the number of consumers that wait on one queue, or of requests that wait for the end of a message."},
    {"watchdog_limit",
     "Delete a watchdog that is not needed, or raise the limit that `detail` names: `limits.watchdogs_max`, or the "
     "namespace's `limits.watchdogs`."},
    {"wrong_type", "Send the type that `detail` names."},
};

constexpr bool has_each_code_once() {
    const ErrorAdvice* next = std::begin(kAdvice);
    for (const ErrorCodeRow& row : kErrorCodes) {
        if (row.status == 0) continue;
        if (next == std::end(kAdvice) || next->code != row.name || next->text.empty()) return false;
        ++next;
    }
    return next == std::end(kAdvice);
}
static_assert(has_each_code_once(), "kAdvice has a row for each code of kErrorCodes with a status, in that order");

constexpr std::string_view kHead =
    "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
    "content=\"width=device-width\">\n<title>Error codes of Duewheel</title>\n<h1>Error codes</h1>\n"
    "<p>This server has no other pages of the documentation. The package <code>duewheel-doc</code> installs them, and "
    "the "
    "setting <code>http.docs</code> names their directory.</p>\n";

// Code spans become elements, and links their text.
std::string html_of(std::string_view markdown) {
    std::string html;
    bool is_code = false;
    for (std::size_t at = 0; at < markdown.size(); ++at) {
        const char c = markdown[at];
        if (c == '`') {
            html += is_code ? "</code>" : "<code>";
            is_code = !is_code;
        } else if (!is_code && markdown.substr(at).starts_with("](")) {
            at = markdown.find(')', at);
        } else if (c == '&') {
            html += "&amp;";
        } else if (c == '<') {
            html += "&lt;";
        } else if (is_code || c != '[') {
            html += c;
        }
    }
    return html;
}

}  // namespace

std::span<const ErrorAdvice> error_advice() {
    return kAdvice;
}

std::string_view retry_text(int status) {
    if (has_retry_after(status)) return "after the time in `Retry-After`.";
    switch (status) {
        case 307:
            return "at the URL in `Location`.";
        case 404:
        case 409:
            return "no, it fails as long as nothing else changes.";
        case 408:
            return "yes.";
        case 410:
        case 500:
            return "no.";
        default:
            return "no, correct the request first.";
    }
}

std::string error_page_path(std::string_view code) {
    return "/docs/errors#" + std::string(code);
}

const std::string& error_page() {
    static const std::string kPage = [] {
        std::string page(kHead);
        for (const auto& [code, text] : kAdvice) {
            const ErrorCodeRow& row = *find_error_code(code);
            page.append("<h2 id=\"").append(code).append("\"><code>").append(code).append("</code></h2>\n<p><b>");
            page.append(std::to_string(row.status)).append(" ").append(row.title).append(".</b> ");
            page.append(html_of(text)).append("</p>\n<p>Retry: ");
            page.append(html_of(retry_text(row.status))).append("</p>\n");
        }
        return page;
    }();
    return kPage;
}

}  // namespace duewheel

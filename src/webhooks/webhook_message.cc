#include "webhooks/webhook_message.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "base/enum_name.h"
#include "base/text_ends.h"
#include "net/http/http_message.h"
#include "net/http/http_target.h"
#include "shared/utf8.h"

namespace duewheel {
namespace {

// They frame the request, are for the next hop only (RFC 9110, 7.6.1), or are set by this program.
constexpr std::string_view kNotPassedOn[] = {
    "connection", "content-length",     "content-type",        "expect",           "host",
    "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te",
    "trailer",    "traceparent",        "transfer-encoding",   "upgrade"};
constexpr std::string_view kOwnBeginnings[] = {"webhook-", "duewheel-"};

bool begins_with(std::string_view name, std::string_view beginning) {
    return name.size() >= beginning.size() && equal_ignoring_case(name.substr(0, beginning.size()), beginning);
}

}  // namespace

bool is_header_allowed(std::string_view name) {
    const auto is_it = [&](std::string_view each) { return equal_ignoring_case(name, each); };
    const auto begins = [&](std::string_view each) { return begins_with(name, each); };
    return std::none_of(std::begin(kNotPassedOn), std::end(kNotPassedOn), is_it) &&
           std::none_of(std::begin(kOwnBeginnings), std::end(kOwnBeginnings), begins);
}

namespace {

// A name as a header value, which is ASCII: its other bytes are percent-encoded. No name has a percent sign, so that
// percent-decoding gives back every name.
std::string ascii_name(std::string_view name) {
    std::string value;
    for (std::size_t at = 0; at < name.size(); ++at) {
        const bool is_ascii = static_cast<unsigned char>(name[at]) < 0x80;
        value += is_ascii ? std::string(1, name[at]) : percent_encode(name.substr(at, 1));
    }
    return value;
}

std::string_view named(WebhookAnswer::Kind kind) {
    return enum_name<WebhookAnswer::Kind::broken>(
        kind, {"answered", "forbidden", "unreachable", "untrusted", "timed out", "connection broke"});
}

}  // namespace

WebhookRequest webhook_of(Delivered& message, const HeaderFields& own, const WebhookAttempt& attempt) {
    WebhookRequest request;
    request.url = attempt.url;
    request.timeout = std::chrono::milliseconds(attempt.timeout_ms);
    HeaderFields& fields = request.fields;
    const auto say = [&](const char* name, std::string value) { fields.emplace_back(name, std::move(value)); };
    const std::string id = std::to_string(message.id);
    const std::int64_t timestamp_s = attempt.timestamp_ms / 1000;
    say("webhook-id", id);
    say("webhook-timestamp", std::to_string(timestamp_s));
    if (attempt.signer.has_keys()) {
        say("webhook-signature", attempt.signer.sign(id, timestamp_s, message.body));
    }
    if (attempt.name_space != kDefaultNamespace) say("duewheel-namespace", ascii_name(attempt.name_space));
    say("duewheel-queue", ascii_name(attempt.queue));
    say("duewheel-attempt", std::to_string(message.attempt));
    say("duewheel-due-ms", std::to_string(message.due_ms));
    say("duewheel-lateness-ms", std::to_string(message.lateness_ms));
    say("duewheel-wait-ms", std::to_string(message.wait_ms));
    if (!message.group.empty()) say("duewheel-group", ascii_name(message.group));
    if (message.maybe_delivered) say("duewheel-maybe-delivered", "true");
    if (message.check) {
        say("duewheel-check-message", std::to_string(message.parent));
        say("duewheel-check-number", std::to_string(message.occurrence));
        say("duewheel-check-times", std::to_string(message.check->check_times));
        say("duewheel-check-otherwise", message.check->otherwise_commit ? "commit" : "rollback");
    } else if (message.parent != 0) {
        say("duewheel-parent", std::to_string(message.parent));
    }
    if (message.occurrence != 0 && !message.check) say("duewheel-occurrence", std::to_string(message.occurrence));
    if (!message.schedule.empty()) say("duewheel-schedule", ascii_name(message.schedule));
    if (!message.watchdog.empty()) {
        say("duewheel-watchdog", ascii_name(message.watchdog));
        say("duewheel-last-fed-ms", std::to_string(message.fed_ms));
    }
    if (!message.traceparent.empty()) say("traceparent", message.traceparent);
    if (!message.content_type.empty()) say("Content-Type", message.content_type);
    for (const auto& [name, value] : attempt.headers) say(name.c_str(), std::string(value.reveal()));
    std::copy_if(own.begin(), own.end(), std::back_inserter(fields), [&](const auto& field) {
        const bool is_of_queue = std::any_of(attempt.headers.begin(), attempt.headers.end(), [&](const auto& header) {
            return equal_ignoring_case(header.first, field.first);
        });
        return !is_of_queue && is_header_allowed(field.first);
    });
    request.body = std::move(message.body);
    return request;
}

WebhookMeaning meaning_of(const WebhookAnswer& answer) {
    using Kind = WebhookAnswer::Kind;
    switch (answer.kind) {
        case Kind::forbidden:
        case Kind::unreachable:
        case Kind::untrusted:
            return WebhookMeaning::not_sent;
        case Kind::timed_out:
        case Kind::broken:
            return WebhookMeaning::no_answer;
        case Kind::answered:
            break;
    }
    if (answer.status >= 200 && answer.status < 300) return WebhookMeaning::delivered;
    if (answer.status == 410) return WebhookMeaning::gone;
    if (answer.status == 429 || answer.status >= 500) return WebhookMeaning::unavailable;
    return WebhookMeaning::refused;
}

std::int64_t retry_after_number_s(std::string_view text) {
    std::int64_t seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error == std::errc::invalid_argument || seconds < 0) return 0;
    if (error == std::errc::result_out_of_range) {
        return text.front() == '-' ? 0 : std::numeric_limits<std::int64_t>::max();
    }
    std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
    const bool has_fraction =
        rest.size() > 1 && rest.front() == '.' && rest.find_first_not_of("0123456789", 1) == std::string_view::npos;
    const bool is_more = has_fraction && rest.find_first_not_of('0', 1) != std::string_view::npos;
    if (has_fraction) return is_more && seconds < std::numeric_limits<std::int64_t>::max() ? seconds + 1 : seconds;
    return rest.find_first_not_of(' ') == std::string_view::npos ? seconds : 0;
}

std::int64_t retry_after_ms(const WebhookAnswer& answer, std::int64_t max_ms) {
    constexpr std::array kStatuses = {429, 502, 503, 504};
    const bool has_retry_after = answer.kind == WebhookAnswer::Kind::answered &&
                                 std::find(kStatuses.begin(), kStatuses.end(), answer.status) != kStatuses.end();
    if (!has_retry_after || answer.retry_after_s <= 0) return 0;
    return std::min(std::min(answer.retry_after_s, max_ms / 1000 + 1) * 1000, max_ms);
}

void hide_header_values(const SecretHeaders& headers, std::string& text) {
    constexpr std::size_t kWordBytesMin = 4;
    constexpr std::string_view kHidden = "***";
    for (const auto& [name, secret] : headers) {
        const std::string_view value = secret.reveal();
        for (std::size_t begin = 0; begin < value.size();) {
            const std::size_t end = std::min(value.find(' ', begin), value.size());
            const std::string_view word = value.substr(begin, end - begin);
            begin = end + 1;
            if (word.size() < kWordBytesMin) continue;
            for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + kHidden.size())) {
                text.replace(at, word.size(), kHidden);
            }
            for (std::size_t size = word.size() - 1; size >= kWordBytesMin; --size) {
                if (!text.ends_with(word.substr(0, size))) continue;
                text.replace(text.size() - size, size, kHidden);
                break;
            }
            for (std::size_t size = word.size() - 1; size >= kWordBytesMin; --size) {
                if (!text.starts_with(word.substr(word.size() - size))) continue;
                text.replace(0, size, kHidden);
                break;
            }
        }
    }
}

std::string failure_reason(const WebhookAnswer& answer, std::size_t bytes_max) {
    std::string reason(named(answer.kind));
    const bool is_answer = answer.kind == WebhookAnswer::Kind::answered;
    if (is_answer) reason += " " + std::to_string(answer.status);
    if (is_answer && answer.status >= 300 && answer.status < 400) reason += ", and redirects are not followed";
    if (!answer.text.empty()) reason += ": " + as_utf8(answer.text);
    if (!answer.end.empty()) reason.append(kOmission).append(as_utf8(answer.end));
    return both_ends(reason, bytes_max);
}

}  // namespace duewheel

// The HTTP request of a webhook, and the meaning of its responses.
#include "webhooks/webhook_message.h"

#include <gtest/gtest.h>

namespace duewheel::webhook_message_test {
namespace {

using Kind = WebhookAnswer::Kind;

WebhookAnswer answered(int status, std::int64_t retry_after_s = 0, std::string text = {}) {
    WebhookAnswer answer;
    answer.kind = Kind::answered;
    answer.status = status;
    answer.retry_after_s = retry_after_s;
    answer.text = std::move(text);
    return answer;
}
WebhookAnswer ended(Kind kind, std::string text = {}) {
    WebhookAnswer answer;
    answer.kind = kind;
    answer.text = std::move(text);
    return answer;
}

std::string text_of(const HeaderFields& fields) {
    std::string text;
    for (const auto& [name, value] : fields) text.append(name).append(": ").append(value).append("\n");
    return text;
}

Delivered everything() {
    Delivered message;
    message.id = 7168;
    message.due_ms = 1'000;
    message.wait_ms = 60'000;
    message.lateness_ms = 250;
    message.attempt = 3;
    message.occurrence = 4;
    message.parent = 6144;
    message.schedule = "nightly";
    message.maybe_delivered = true;
    message.body = "the body";
    message.content_type = "text/x";
    message.traceparent = "00-a-b-01";
    return message;
}

TEST(WebhookMessage, contains_everything_that_a_lease_returns) {
    const std::vector<Secret> keys = {Secret("whsec_" + std::string(32, 'A'))};
    const Result<WebhookSigner> signer = WebhookSigner::from(keys);
    const WebhookUrl url = *WebhookUrl::from("https://example.com/in");
    Delivered message = everything();
    const WebhookRequest request =
        webhook_of(message, {{"X-Mine", "1"}}, {"team", "mail", url, *signer, 5'000, 1'700'000'000'999});
    EXPECT_EQ(request.url, url);
    EXPECT_EQ(request.body, "the body");
    EXPECT_EQ(request.timeout, std::chrono::seconds(5));
    EXPECT_EQ(text_of(request.fields),
              "webhook-id: 7168\nwebhook-timestamp: 1700000000\nwebhook-signature: " +
                  signer->sign("7168", 1'700'000'000, "the body") +
                  "\nduewheel-namespace: team\nduewheel-queue: mail\nduewheel-attempt: 3\nduewheel-due-ms: 1000\n"
                  "duewheel-lateness-ms: 250\nduewheel-wait-ms: 60000\nduewheel-maybe-delivered: "
                  "true\nduewheel-parent: 6144\n"
                  "duewheel-occurrence: 4\nduewheel-schedule: nightly\ntraceparent: 00-a-b-01\nContent-Type: text/x\n"
                  "X-Mine: 1\n");
}

TEST(WebhookMessage, names_are_percent_encoded_where_they_are_not_ascii) {
    const WebhookUrl url = *WebhookUrl::from("https://example.com/in");
    Delivered message;
    message.schedule = "nächtlich";
    message.watchdog = "a/b;$(c)+注";
    const std::string fields = text_of(webhook_of(message, {}, {"équipe", "größe", url, WebhookSigner(), 1, 0}).fields);
    for (const char* line : {"duewheel-namespace: %C3%A9quipe\n", "duewheel-queue: gr%C3%B6%C3%9Fe\n",
                             "duewheel-schedule: n%C3%A4chtlich\n", "duewheel-watchdog: a/b;$(c)+%E6%B3%A8\n"}) {
        EXPECT_NE(fields.find(line), std::string::npos) << fields;
    }
}

TEST(WebhookMessage, omits_empty_members) {
    const WebhookUrl url = *WebhookUrl::from("https://example.com/in");
    Delivered message;
    message.id = 1024;
    message.attempt = 1;
    const WebhookRequest request = webhook_of(message, {}, {kDefaultNamespace, "q", url, WebhookSigner(), 1, 2'000});
    EXPECT_EQ(text_of(request.fields),
              "webhook-id: 1024\nwebhook-timestamp: 2\nduewheel-queue: q\nduewheel-attempt: 1\nduewheel-due-ms: 0\n"
              "duewheel-lateness-ms: 0\nduewheel-wait-ms: 0\n");
}

TEST(WebhookMessage, a_message_of_a_watchdog_contains_its_name_and_the_last_feed) {
    const WebhookUrl url = *WebhookUrl::from("https://example.com/in");
    Delivered message;
    message.id = 1024;
    message.occurrence = 2;
    message.watchdog = "backup";
    message.fed_ms = 77;
    const std::string text =
        text_of(webhook_of(message, {}, {kDefaultNamespace, "q", url, WebhookSigner(), 1, 0}).fields);
    EXPECT_NE(text.find("duewheel-occurrence: 2\nduewheel-watchdog: backup\nduewheel-last-fed-ms: 77\n"),
              std::string::npos)
        << text;
}

// The receiver commits or rolls back the message that it identifies.
TEST(WebhookMessage, a_check_names_its_prepared_message) {
    const WebhookUrl url = *WebhookUrl::from("https://example.com/in");
    Delivered message = everything();
    message.check = TransactionRule{};
    message.check->check_times = 5;
    message.schedule.clear();
    const std::string text =
        text_of(webhook_of(message, {}, {kDefaultNamespace, "q", url, WebhookSigner(), 1, 0}).fields);
    EXPECT_NE(text.find("duewheel-check-message: 6144\nduewheel-check-number: 4\nduewheel-check-times: 5\n"
                        "duewheel-check-otherwise: rollback\ntraceparent"),
              std::string::npos)
        << text;
    EXPECT_EQ(text.find("duewheel-parent"), std::string::npos) << text;
    EXPECT_EQ(text.find("duewheel-occurrence"), std::string::npos) << text;
}

// A client that puts a message chooses its headers: they must not change the framing of the request, name another host,
// or forge headers of the server.
TEST(WebhookMessage, passes_on_only_headers_that_a_message_may_set) {
    const WebhookUrl url = *WebhookUrl::from("https://example.com/in");
    HeaderFields own;
    for (const char* name : {"Host", "content-length", "Transfer-Encoding", "CONNECTION", "Keep-Alive", "TE", "Trailer",
                             "Upgrade", "Expect", "Proxy-Authorization", "Content-Type", "Webhook-Signature",
                             "webhook-id", "WEBHOOK-anything", "Duewheel-Attempt", "traceparent"}) {
        own.emplace_back(name, "mine");
    }
    own.emplace_back("Authorization", "Bearer x");
    own.emplace_back("webhooks", "kept");
    Delivered message;
    const WebhookRequest request = webhook_of(message, own, {kDefaultNamespace, "q", url, WebhookSigner(), 1, 0});
    const std::string text = text_of(request.fields);
    EXPECT_EQ(text.find("mine"), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("Authorization: Bearer x\nwebhooks: kept\n")) << text;
}

// A client that puts a message must not choose headers that the receiver trusts as those of the queue.
TEST(WebhookMessage, the_queues_headers_replace_those_of_the_message) {
    const WebhookUrl url = *WebhookUrl::from("https://example.com/in");
    const SecretHeaders of_queue = {{"Authorization", Secret("Bearer queue")}, {"X-Empty", Secret("")}};
    Delivered message;
    const WebhookRequest request =
        webhook_of(message, {{"AUTHORIZATION", "Bearer mine"}, {"x-empty", "mine"}, {"X-Other", "kept"}},
                   {kDefaultNamespace, "q", url, WebhookSigner(), 1, 0, of_queue});
    const std::string text = text_of(request.fields);
    EXPECT_EQ(text.find("mine"), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("Authorization: Bearer queue\nX-Empty: \nX-Other: kept\n")) << text;
}

TEST(WebhookMessage, a_response_is_classified_by_its_status) {
    for (const int status : {200, 201, 202, 204, 299})
        EXPECT_EQ(meaning_of(answered(status)), WebhookMeaning::delivered);
    for (const int status : {100, 300, 301, 302, 307, 308, 400, 401, 404, 409, 422}) {
        EXPECT_EQ(meaning_of(answered(status)), WebhookMeaning::refused) << status;
    }
    for (const int status : {429, 500, 502, 503, 504, 599}) {
        EXPECT_EQ(meaning_of(answered(status)), WebhookMeaning::unavailable) << status;
    }
    EXPECT_EQ(meaning_of(answered(410)), WebhookMeaning::gone);
    EXPECT_EQ(meaning_of(ended(Kind::timed_out)), WebhookMeaning::no_answer);
    EXPECT_EQ(meaning_of(ended(Kind::broken)), WebhookMeaning::no_answer);
    for (const Kind kind : {Kind::forbidden, Kind::unreachable, Kind::untrusted}) {
        EXPECT_EQ(meaning_of(ended(kind)), WebhookMeaning::not_sent);
    }
    EXPECT_FALSE(is_of_target(WebhookMeaning::delivered));
    EXPECT_FALSE(is_of_target(WebhookMeaning::gone));
    EXPECT_FALSE(is_of_target(WebhookMeaning::refused));
    EXPECT_TRUE(is_of_target(WebhookMeaning::unavailable));
    EXPECT_TRUE(is_of_target(WebhookMeaning::no_answer));
    EXPECT_TRUE(is_of_target(WebhookMeaning::not_sent));
}

TEST(WebhookMessage, backs_off_as_long_as_requested_up_to_the_maximum) {
    constexpr std::int64_t kHour = 3'600'000;
    for (const int status : {429, 502, 503, 504}) EXPECT_EQ(retry_after_ms(answered(status, 17), kHour), 17'000);
    for (const int status : {200, 302, 404, 500}) EXPECT_EQ(retry_after_ms(answered(status, 17), kHour), 0);
    EXPECT_EQ(retry_after_ms(answered(503), kHour), 0);
    EXPECT_EQ(retry_after_ms(answered(503, -5), kHour), 0);
    EXPECT_EQ(retry_after_ms(answered(503, 3'601), kHour), kHour);
    EXPECT_EQ(retry_after_ms(answered(503, INT64_MAX), kHour), kHour);
    EXPECT_EQ(retry_after_ms(ended(Kind::timed_out), kHour), 0);
    // One that no number can hold was no wait at all, and a fraction was cut off.
    EXPECT_EQ(retry_after_number_s("17"), 17);
    EXPECT_EQ(retry_after_number_s("99999999999999999999"), INT64_MAX);
    EXPECT_EQ(retry_after_number_s("3.5"), 4);
    EXPECT_EQ(retry_after_number_s("3.0"), 3);
    EXPECT_EQ(retry_after_number_s("9223372036854775807.5"), INT64_MAX);
    for (const char* none : {"", "-5", "-99999999999999999999", "soon", "3.x", "3 s", "Wed, 25 Nov 2026 02:00:00 GMT"})
        EXPECT_EQ(retry_after_number_s(none), 0) << none;
}

// A target answered 500 with the Authorization field that it had got: the token stood in the message's reason and in
// the log.
TEST(WebhookMessage, hides_header_values_that_a_target_repeats) {
    const SecretHeaders headers = {{"Authorization", Secret("Bearer s3cret-token")}, {"X-Tenant", Secret("a b")}};
    const auto hidden = [&](std::string text) {
        hide_header_values(headers, text);
        return text;
    };
    EXPECT_EQ(hidden("bad token: Bearer s3cret-token, a b"), "bad token: *** ***, a b");
    EXPECT_EQ(hidden("s3cret-tokens3cret-token"), "******");
    EXPECT_EQ(hidden("cut off: s3cret-to"), "cut off: ***");
    EXPECT_EQ(hidden("cret-token: cut off"), "***: cut off");
    EXPECT_EQ(hidden("no such order"), "no such order");
}

TEST(WebhookMessage, a_failure_has_a_reason) {
    EXPECT_EQ(failure_reason(answered(500, 0, "out of order"), 1024), "answered 500: out of order");
    EXPECT_EQ(failure_reason(answered(404), 1024), "answered 404");
    EXPECT_EQ(failure_reason(answered(302), 1024), "answered 302, and redirects are not followed");
    EXPECT_EQ(failure_reason(ended(Kind::timed_out, "after 5 s"), 1024), "timed out: after 5 s");
    EXPECT_EQ(failure_reason(ended(Kind::forbidden, "10.0.0.1 is a private address."), 1024),
              "forbidden: 10.0.0.1 is a private address.");
    EXPECT_EQ(failure_reason(answered(500, 0, "abc\xff"), 1024), "answered 500: abc\xef\xbf\xbd");
    EXPECT_EQ(failure_reason(answered(500, 0, std::string(5'000, 'x')), 1024).size(), 1024u);
    WebhookAnswer traceback = answered(500, 0, "Traceback: " + std::string(1'000, 'x'));
    traceback.end = std::string(1'000, 'y') + " KeyError: 'order'";
    const std::string reason = failure_reason(traceback, 1024);
    EXPECT_TRUE(reason.starts_with("answered 500: Traceback: x"));
    EXPECT_TRUE(reason.ends_with(" KeyError: 'order'"));
    EXPECT_EQ(reason.size(), 1024u);
}

}  // namespace
}  // namespace duewheel::webhook_message_test

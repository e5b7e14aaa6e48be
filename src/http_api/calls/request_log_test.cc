#include "http_api/calls/request_log.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "http_api/answers/lease_text.h"
#include "support/recording_log.h"

namespace duewheel::request_log_test {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::string_view kTrace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

HttpRequest request(std::string_view path, std::vector<HttpField> fields = {}) {
    HttpRequest request;
    request.method = "POST";
    request.path = path;
    request.peer.address = "127.0.0.1";
    request.fields = std::move(fields);
    return request;
}

using Lines = std::vector<std::string>;

TEST(RequestLog, does_not_log_ordinary_requests_by_default) {
    RecordingLog log;
    RequestLog requests(log, {});
    for (int i = 0; i < 1000; ++i)
        requests.answered(RequestLog::note(request("/v1/x"), 0), 201, ErrorCode::none, 999 * kMs);
    requests.answered(RequestLog::note(request("/v1/x"), 0), 400, "bad_json"_code, 1000 * kMs);
    EXPECT_EQ(log.lines(), Lines{});
}

TEST(RequestLog, logs_a_sample_of_the_requests_starting_with_the_first) {
    RecordingLog log;
    RequestLog requests(log, {.every = 3});
    for (int i = 0; i < 7; ++i) {
        requests.answered(RequestLog::note(request("/v1/" + std::to_string(i)), 0), 200, ErrorCode::none, 1500);
    }
    EXPECT_EQ(
        log.lines(),
        (Lines{"info request: A request was answered. method=POST path=/v1/0 status=200 micros=1 remote=127.0.0.1",
               "info request: A request was answered. method=POST path=/v1/3 status=200 micros=1 remote=127.0.0.1",
               "info request: A request was answered. method=POST path=/v1/6 status=200 micros=1 "
               "remote=127.0.0.1"}));
}

TEST(RequestLog, carries_the_trace_and_the_code_and_no_lease_token) {
    RecordingLog log;
    RequestLog requests(log, {.every = 1});
    requests.answered(RequestLog::note(request("/v1/leases/SECRET:ack", {{"Traceparent", kTrace}}), 0), 400,
                      "bad_lease_token"_code, 0);
    requests.answered(RequestLog::note(request("/v1/namespaces/n/leases/SECRET", {{"traceparent", "nonsense"}}), 0),
                      404, "unknown_path"_code, 0);
    EXPECT_EQ(log.lines(),
              (Lines{"info request: A request was answered. method=POST path=/v1/leases/-:ack status=400 "
                     "code=bad_lease_token micros=0 remote=127.0.0.1 traceparent=" +
                         std::string(kTrace),
                     "info request: A request was answered. method=POST path=/v1/namespaces/n/leases/- status=404 "
                     "code=unknown_path micros=0 remote=127.0.0.1"}));
}

// Only what followed /leases/ was omitted, so that a token in the path of an earlier version, or of no call, was
// shown.
TEST(RequestLog, shows_no_token_wherever_it_is_in_a_path) {
    RecordingLog log;
    RequestLog requests(log, {.every = 1});
    const std::string token = lease_text({1024, 1, 2, 3});
    for (const std::string& path : {"/v1/messages/" + token + ":ack", "/v1/%6ceases/" + token + ":ack", "/" + token,
                                    "/v1/leases/x/leases/" + token, std::string("/dw_a_secret")}) {
        requests.answered(RequestLog::note(request(path), 0), 404, "unknown_path"_code, 0);
        ASSERT_FALSE(log.lines().empty());
        EXPECT_EQ(log.lines().back().find(token), std::string::npos) << path;
        EXPECT_EQ(log.lines().back().find("secret"), std::string::npos) << path;
        EXPECT_NE(log.lines().back().find("/-"), std::string::npos) << path;
    }
}

TEST(RequestLog, logs_slow_requests_once_a_second_without_their_requested_wait) {
    RecordingLog log;
    RequestLog requests(log, {.slow_ms = 100});
    RequestNote note = RequestLog::note(request("/v1/q"), 0);
    requests.answered(note, 200, ErrorCode::none, 100 * kMs);
    EXPECT_EQ(log.lines(), Lines{});
    requests.answered(note, 200, ErrorCode::none, 100 * kMs + 1);
    requests.answered(note, 200, ErrorCode::none, 500 * kMs);
    requests.answered(note, 200, ErrorCode::none, 1099 * kMs);
    requests.answered(note, 200, ErrorCode::none, 1101 * kMs);
    note.wait_ms = 20'000;
    requests.answered(note, 200, ErrorCode::none, 20'100 * kMs);
    EXPECT_EQ(log.lines(), (Lines{"warning slow_request: A request was slow. method=POST path=/v1/q status=200 "
                                  "micros=100000 remote=127.0.0.1",
                                  "warning slow_request: A request was slow. method=POST path=/v1/q status=200 "
                                  "micros=1101000 remote=127.0.0.1 count=3"}));
}

TEST(RequestLog, logs_refusals_at_a_limit_once_in_ten_seconds_with_their_number) {
    RecordingLog log;
    RequestLog requests(log, {});
    const RequestNote note = RequestLog::note(request("/v1/q"), 0);
    for (int i = 0; i < 1000; ++i) requests.answered(note, 503, "too_busy"_code, i * kMs);
    requests.refused(413, "body_too_large"_code, 5);
    requests.answered(note, 404, "unknown_id"_code, 6);
    requests.answered(note, 503, "too_busy"_code, 10'000 * kMs);
    EXPECT_EQ(log.lines(),
              (Lines{"warning limit_refused: Requests are refused at a limit. code=too_busy status=503 count=1",
                     "warning limit_refused: Requests are refused at a limit. code=body_too_large status=413 count=1",
                     "warning limit_refused: Requests are refused at a limit. code=too_busy status=503 count=1000",
                     "warning slow_request: A request was slow. method=POST path=/v1/q status=503 code=too_busy "
                     "micros=10000000 remote=127.0.0.1"}));
}

}  // namespace
}  // namespace duewheel::request_log_test

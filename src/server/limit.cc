#include "server/limit.h"

#include <algorithm>
#include <iterator>
#include <type_traits>

#include "calendar/duration.h"
#include "ingress/event_streams.h"
#include "ingress/field_syntax.h"
#include "ingress/json_request.h"
#include "ingress/list_request.h"
#include "ingress/put_request.h"
#include "ingress/request_command.h"
#include "ingress/schedule_request.h"
#include "ingress/schedule_text.h"
#include "message/message.h"
#include "message/retry_rule.h"
#include "message/webhook_target.h"

namespace duewheel {
namespace {

using Unit = LimitUnit;
using Api = HttpApiOptions;
using Engine = EngineOptions;
using Http = HttpLimits;
using Levels = LimitLevels;
using Webhooks = WebhookOptions;

constexpr std::int64_t kSecond = 1000;
constexpr std::int64_t kHour = 3600 * kSecond;
constexpr std::int64_t kDay = 24 * kHour;
constexpr std::int64_t kLeaseUnspecified = 30 * kSecond;  // an extension without a time must always be allowed
constexpr std::int64_t kKiB = 1 << 10;
constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kGiB = 1 << 30;

template <class T>
std::int64_t to_number(const T& held) {
    if constexpr (std::is_same_v<T, std::chrono::milliseconds>)
        return held.count();
    else
        return static_cast<std::int64_t>(held);
}

// A limit at this path of members in a ServerOptions.
template <auto... Path>
constexpr Limit at(Limit limit) {
    limit.read = [](const ServerOptions& options) { return to_number((options.*....*Path)); };
    limit.write = [](ServerOptions& options, std::int64_t value) {
        auto& member = (options.*....*Path);
        member = static_cast<std::remove_reference_t<decltype(member)>>(value);
    };
    return limit;
}

// A fixed limit at this path, which no setting changes.
template <auto... Path>
constexpr Limit bound(Limit limit) {
    limit.read = [](const ServerOptions& options) { return to_number((options.*....*Path)); };
    return limit;
}

template <auto Value>
constexpr Limit fixed(Limit limit) {
    limit.read = [](const ServerOptions&) { return static_cast<std::int64_t>(Value); };
    return limit;
}

template <auto Member>
std::uint64_t of_engine(const Levels& levels) {
    return static_cast<std::uint64_t>(levels.engine.*Member);
}
template <auto Member>
std::uint64_t of_http(const Levels& levels) {
    return static_cast<std::uint64_t>(levels.http.*Member);
}

template <auto Member>
std::uint64_t of_webhooks(const Levels& levels) {
    return static_cast<std::uint64_t>(levels.webhooks.*Member);
}

constexpr auto kWebhooks = &ServerOptions::webhooks;
constexpr auto kEngine = &ServerOptions::engine;
constexpr auto kHttp = &ServerOptions::http;
constexpr auto kApi = &ServerOptions::api;

constexpr Limit kLimits[] = {
    at<kHttp, &Http::connections_max>(
        {.name = "http.connections_max",
         .sentence = "Maximum number of open connections. Further clients wait until one closes.",
         .min = 1,
         .max = 1'000'000,
         .otherwise = "clients wait in the kernel's queue",
         .use = of_http<&HttpCounters::connections_open>}),
    fixed<kEventStreamsMax>({.name = "http.event_streams_max",
                             .sentence = "Maximum number of open event streams.",
                             .codes = {"stream_limit"},
                             .use = of_http<&HttpCounters::streams_open>}),
    at<kHttp, &Http::body_bytes_max>({.name = "http.body_max",
                                      .unit = Unit::bytes,
                                      .sentence = "Maximum size of a request body.",
                                      .min = 64 * kKiB,
                                      .max = kGiB,
                                      .codes = {"body_too_large"}}),
    bound<kHttp, &Http::header_bytes_max>(
        {.name = "http.header_max",
         .unit = Unit::bytes,
         .sentence = "Maximum size of all header fields of a request, line ends included.",
         .codes = {"header_too_large"}}),
    bound<kHttp, &Http::header_count_max>({.name = "http.header_fields_max",
                                           .sentence = "Maximum number of header fields of a request.",
                                           .codes = {"header_too_large"}}),
    bound<kHttp, &Http::target_bytes_max>({.name = "http.target_max",
                                           .unit = Unit::bytes,
                                           .sentence = "Maximum size of the path and query of a request.",
                                           .codes = {"target_too_long"}}),
    at<kHttp, &Http::unfinished_bytes_max>({.name = "http.unfinished_max",
                                            .unit = Unit::bytes,
                                            .sentence = "Maximum total size of partly received requests, over all "
                                                        "clients. The request that exceeds it is refused.",
                                            .min = kMiB,
                                            .max = 1024 * kGiB,
                                            .codes = {"overloaded"},
                                            .use = of_http<&HttpCounters::unfinished_bytes>}),
    bound<kHttp, &Http::pipeline_max>({.name = "http.pipeline_max",
                                       .sentence = "Maximum number of requests of a connection that wait for their "
                                                   "responses. Beyond it the server stops reading from the connection.",
                                       .otherwise = "reading pauses until responses are sent"}),
    bound<kHttp, &Http::reads_max>(
        {.name = "http.reads_max",
         .sentence = "Maximum number of requests of a connection that read data at the same time, because their "
                     "responses can be large. Beyond it the server stops reading from the connection.",
         .otherwise = "reading pauses until responses are sent"}),
    bound<kHttp, &Http::output_bytes_max>({.name = "http.output_max",
                                           .unit = Unit::bytes,
                                           .sentence =
                                               "Maximum size of a connection's responses that the client has not "
                                               "read. Beyond it the server stops reading from the connection.",
                                           .otherwise = "reading pauses until responses are sent"}),
    at<kHttp, &Http::unsent_bytes_max>({.name = "http.unsent_max",
                                        .unit = Unit::bytes,
                                        .sentence = "Maximum total size of unsent responses, over all connections. "
                                                    "Beyond it the connections with the most unsent data are closed.",
                                        .min = kMiB,
                                        .max = 1024 * kGiB,
                                        .otherwise = "the connection is closed",
                                        .use = of_http<&HttpCounters::unsent_bytes>}),
    bound<kHttp, &Http::header_deadline>(
        {.name = "http.header_timeout",
         .unit = Unit::milliseconds,
         .sentence = "Maximum time from the first byte of a request to the end of its header.",
         .codes = {"request_timeout"}}),
    bound<kHttp, &Http::body_deadline>({.name = "http.body_timeout",
                                        .unit = Unit::milliseconds,
                                        .sentence = "Maximum time to receive a request body.",
                                        .codes = {"request_timeout"}}),
    at<kHttp, &Http::idle_timeout>({.name = "http.idle_timeout",
                                    .unit = Unit::milliseconds,
                                    .sentence = "A connection without a request is closed after this time.",
                                    .min = kSecond,
                                    .max = kDay,
                                    .otherwise = "the connection is closed"}),
    bound<kHttp, &Http::write_deadline>(
        {.name = "http.write_timeout",
         .unit = Unit::milliseconds,
         .sentence = "Maximum time for a client to read 64 KiB of its responses, or the remainder if that is less.",
         .otherwise = "the connection is closed"}),

    bound<kApi, &Api::queue_name_bytes_max>(
        {.name = "limits.queue_name_max",
         .unit = Unit::bytes,
         .sentence = "Maximum size of the name of a queue, namespace, schedule or watchdog.",
         .codes = {"bad_queue_name", "bad_namespace", "bad_schedule_name", "bad_watchdog_name"}}),
    at<kApi, &Api::body_bytes_max>({.name = "limits.body_max",
                                    .unit = Unit::bytes,
                                    .sentence = "Maximum size of a message body, after decoding.",
                                    .min = kKiB,
                                    .max = 32 * kMiB,
                                    .codes = {"body_too_large"}}),
    bound<kApi, &Api::headers_max>({.name = "limits.headers_max",
                                    .sentence = "Maximum number of headers of a message.",
                                    .codes = {"headers_too_large"}}),
    bound<kApi, &Api::headers_bytes_max>(
        {.name = "limits.headers_size_max",
         .unit = Unit::bytes,
         .sentence = "Maximum size of the headers of a message, names and values together.",
         .codes = {"headers_too_large"}}),
    bound<kApi, &Api::key_bytes_max>({.name = "limits.key_max",
                                      .unit = Unit::bytes,
                                      .sentence = "Maximum size of an idempotency key.",
                                      .codes = {"bad_key"}}),
    fixed<kOrderKeyBytesMax>({.name = "limits.order_key_max",
                              .unit = Unit::bytes,
                              .sentence = "Maximum size of an order key.",
                              .codes = {"bad_order_key"}}),
    fixed<kMediaTypeBytesMax>({.name = "limits.content_type_max",
                               .unit = Unit::bytes,
                               .sentence = "Maximum size of the media type of a message.",
                               .codes = {"bad_content_type", "unsupported_media_type"}}),
    fixed<kReasonBytesMax>({.name = "limits.reason_max",
                            .unit = Unit::bytes,
                            .sentence = "Maximum size of the reason of a failure.",
                            .otherwise = "the reason is truncated"}),
    fixed<kRetryAttemptsMax>({.name = "limits.attempts_max",
                              .sentence = "Maximum number of attempts of a message.",
                              .codes = {"out_of_range"}}),
    fixed<kRetryBackoffMaxMs>({.name = "limits.backoff_max",
                               .unit = Unit::milliseconds,
                               .sentence = "Maximum backoff between two attempts, without jitter.",
                               .codes = {"out_of_range"}}),
    bound<kEngine, &Engine::repeat_times_max>(
        {.name = "limits.repeat_times_max",
         .sentence = "Maximum number of occurrences of a recurring message, or of runs of a schedule, that has an end.",
         .codes = {"out_of_range"}}),
    fixed<kRepeatEveryMaxMs>(
        {.name = "limits.repeat_every_max",
         .unit = Unit::milliseconds,
         .sentence = "Maximum interval between two occurrences of a recurring message, or two runs of a schedule.",
         .codes = {"out_of_range"}}),
    bound<kEngine, &Engine::check_times_max>({.name = "limits.check_times_max",
                                              .sentence =
                                                  "Maximum number of checks of a prepared message, which ask its "
                                                  "producer for the outcome of the transaction.",
                                              .codes = {"out_of_range"}}),
    at<kEngine, &Engine::schedules_max>({.name = "limits.schedules_max",
                                         .sentence = "Maximum number of schedules.",
                                         .min = 1,
                                         .max = 10'000'000,
                                         .codes = {"schedule_limit"},
                                         .use = of_engine<&EngineCounters::schedules>}),
    at<kEngine, &Engine::watchdogs_max>({.name = "limits.watchdogs_max",
                                         .sentence = "Maximum number of watchdogs.",
                                         .min = 1,
                                         .max = 100'000'000,
                                         .codes = {"watchdog_limit"},
                                         .use = of_engine<&EngineCounters::watchdogs>}),
    fixed<kWatchdogMaxMs>(
        {.name = "limits.watchdog_timeout_max",
         .unit = Unit::milliseconds,
         .sentence = "Maximum timeout of a watchdog, and maximum value of its `max` and `repeat_every`.",
         .codes = {"out_of_range"}}),
    fixed<kCronBytesMax>({.name = "limits.cron_max",
                          .unit = Unit::bytes,
                          .sentence = "Maximum size of a cron expression.",
                          .codes = {"bad_cron"}}),
    fixed<kIntervalBytesMax>({.name = "limits.interval_text_max",
                              .unit = Unit::bytes,
                              .sentence = "Maximum size of a repeating interval, the `iso` of a schedule.",
                              .codes = {"bad_interval"}}),
    fixed<kClosedDaysBytesMax>({.name = "limits.closed_days_max",
                                .unit = Unit::bytes,
                                .sentence = "Maximum size of the text that lists the closed days of a schedule.",
                                .codes = {"bad_exclusion"}}),
    fixed<kPreviewMax>(
        {.name = "limits.preview_max", .sentence = "Maximum number of times in a preview.", .codes = {"out_of_range"}}),
    bound<kEngine, &Engine::runs_catch_up_max>(
        {.name = "limits.catch_up_max",
         .sentence = "Maximum number of missed runs that a schedule makes up for in a row.",
         .otherwise = "further runs are skipped and recorded as skipped"}),
    bound<kApi, &Api::batch_max>({.name = "limits.batch_max",
                                  .sentence = "Maximum number of messages in a batch put, and of leases in one call.",
                                  .codes = {"batch_too_large"}}),
    fixed<kJsonDepthMax>(
        {.name = "limits.json_depth_max", .sentence = "Maximum nesting depth of JSON.", .codes = {"too_deep"}}),
    fixed<kJsonMembersMax>(
        {.name = "limits.json_members_max",
         .sentence = "Maximum number of JSON members in a request, those of `headers` and `leases` included.",
         .codes = {"too_many_members"}}),
    bound<kEngine, &Engine::delay_max_ms>({.name = "limits.delay_max",
                                           .unit = Unit::milliseconds,
                                           .sentence = "Maximum time until a message is due or expires.",
                                           .codes = {"delay_too_long"}}),
    bound<kEngine, &Engine::lease_min_ms>({.name = "limits.lease_min",
                                           .unit = Unit::milliseconds,
                                           .sentence = "Minimum duration of a lease.",
                                           .codes = {"lease_too_short"}}),
    at<kEngine, &Engine::lease_max_ms>({.name = "limits.lease_max",
                                        .unit = Unit::milliseconds,
                                        .sentence = "Maximum duration of a lease.",
                                        .min = kLeaseUnspecified,
                                        .max = 365 * kDay,
                                        .codes = {"lease_too_long"}}),
    bound<kEngine, &Engine::wait_max_ms>({.name = "limits.wait_max",
                                          .unit = Unit::milliseconds,
                                          .sentence = "Maximum time that a lease call waits for a message.",
                                          .codes = {"wait_too_long"}}),
    bound<kEngine, &Engine::lease_batch_max>({.name = "limits.lease_batch_max",
                                              .sentence = "Maximum number of messages in a lease call.",
                                              .codes = {"bad_max"}}),
    bound<kEngine, &Engine::lease_bytes_max>(
        {.name = "limits.lease_response_max",
         .unit = Unit::bytes,
         .sentence = "Maximum total size of the messages in a lease call. A larger message is delivered alone.",
         .otherwise = "further messages come with the next call"}),
    fixed<kListLimitMax>(
        {.name = "limits.page_max",
         .sentence = "Maximum number of messages, queues, schedules, watchdogs or namespaces on a page of a listing.",
         .codes = {"out_of_range"}}),
    fixed<kForecastMinutesMax>({.name = "limits.forecast_minutes_max",
                                .sentence = "Maximum number of minutes in a forecast.",
                                .codes = {"out_of_range"}}),
    bound<kEngine, &Engine::forecast_walk_max>(
        {.name = "limits.forecast_rows_max",
         .sentence = "Maximum number of index rows and schedule times that a forecast reads.",
         .otherwise = "later minutes have `at_least`"}),
    bound<kEngine, &Engine::listings_max>({.name = "limits.listings_max",
                                           .sentence =
                                               "Maximum number of listings and forecasts in progress, listings of "
                                               "dead letters and of the history included.",
                                           .codes = {"too_busy"},
                                           .use = of_engine<&EngineCounters::listings>}),
    bound<kEngine, &Engine::redrives_max>({.name = "limits.redrives_max",
                                           .sentence = "Maximum number of redrives of dead letters in progress.",
                                           .codes = {"too_busy"}}),
    at<kEngine, &Engine::queues_max>({.name = "limits.queues_max",
                                      .sentence = "Maximum number of queues.",
                                      .min = 1,
                                      .max = 10'000'000,
                                      .codes = {"queue_limit"},
                                      .use = of_engine<&EngineCounters::queue_names>}),
    at<kEngine, &Engine::namespaces_max>({.name = "limits.namespaces_max",
                                          .sentence = "Maximum number of namespaces that have settings.",
                                          .min = 1,
                                          .max = 1'000'000,
                                          .codes = {"namespace_limit"},
                                          .use = of_engine<&EngineCounters::namespaces>}),
    bound<kEngine, &Engine::pending_limit_max>(
        {.name = "limits.pending_max",
         .sentence = "Maximum value of a queue's `limits.pending` and of each of a namespace's `limits`.",
         .codes = {"out_of_range"}}),
    at<kEngine, &Engine::waiters_per_queue_max>({.name = "limits.waiters_per_queue_max",
                                                 .sentence = "Maximum number of consumers that wait on a queue.",
                                                 .min = 1,
                                                 .max = 1'000'000,
                                                 .codes = {"waiter_limit"}}),
    at<kEngine, &Engine::leased_max>(
        {.name = "limits.leased_max",
         .sentence = "Maximum number of leased messages. Further messages wait in their queues.",
         .min = 1,
         .max = 100'000'000,
         .otherwise = "no message is delivered until a lease ends",
         .use = of_engine<&EngineCounters::leased>}),
    bound<kEngine, &Engine::commands_waiting_max>({.name = "limits.commands_waiting_max",
                                                   .sentence = "Maximum number of requests that wait for the disk.",
                                                   .codes = {"too_busy"},
                                                   .use = of_engine<&EngineCounters::commands_waiting>}),
    at<kEngine, &Engine::waiting_bytes_max>({.name = "limits.waiting_max",
                                             .unit = Unit::bytes,
                                             .sentence = "Maximum total size of puts that wait for the disk.",
                                             .min = kMiB,
                                             .max = 64 * kGiB,
                                             .codes = {"too_busy"},
                                             .use = of_engine<&EngineCounters::waiting_bytes>}),
    bound<kEngine, &Engine::reading_bytes_max>(
        {.name = "limits.reading_max",
         .unit = Unit::bytes,
         .sentence = "Maximum total size of messages that are being read from disk to be shown.",
         .codes = {"too_busy"},
         .use = of_engine<&EngineCounters::reading_bytes>}),

    fixed<kWebhookUrlBytesMax>({.name = "webhooks.url_max",
                                .unit = Unit::bytes,
                                .sentence = "Maximum size of the URL of a webhook.",
                                .codes = {"bad_webhook_url"}}),
    fixed<kWebhookSecretsMax>({.name = "webhooks.secrets_max",
                               .sentence = "Maximum number of secrets that sign the posts of a webhook.",
                               .codes = {"bad_webhook_secret"}}),
    fixed<kWebhookSecretNameBytesMax>({.name = "webhooks.secret_name_max",
                                       .unit = Unit::bytes,
                                       .sentence = "Maximum size of the name of a webhook secret.",
                                       .codes = {"bad_webhook_secret"}}),
    fixed<kWebhookHeadersMax>({.name = "webhooks.headers_max",
                               .sentence = "Maximum number of headers of a webhook.",
                               .codes = {"bad_webhook_header"}}),
    fixed<kWebhookHeadersBytesMax>({.name = "webhooks.headers_size_max",
                                    .unit = Unit::bytes,
                                    .sentence = "Maximum size of the headers of a webhook, names and values together.",
                                    .codes = {"bad_webhook_header"}}),
    fixed<kWebhookRateMax>({.name = "webhooks.rate_max",
                            .sentence = "Maximum `rate` of a webhook, in posts a second.",
                            .codes = {"out_of_range"}}),
    bound<kWebhooks, &Webhooks::timeout_max_ms>({.name = "webhooks.timeout_max",
                                                 .unit = Unit::milliseconds,
                                                 .sentence = "Maximum `timeout` of a webhook.",
                                                 .codes = {"out_of_range"}}),
    bound<kWebhooks, &Webhooks::concurrency_max>({.name = "webhooks.concurrency_max",
                                                  .sentence = "Maximum `concurrency` of a webhook.",
                                                  .codes = {"out_of_range"}}),
    at<kWebhooks, &Webhooks::connections_max>({.name = "webhooks.connections_max",
                                               .sentence = "Maximum number of posts in progress, over all queues.",
                                               .min = 1,
                                               .max = 10'000,
                                               .otherwise = "further messages wait in their queues",
                                               .use = of_webhooks<&WebhookCounters::in_flight>}),
    at<kWebhooks, &Webhooks::bytes_in_flight_max>(
        {.name = "webhooks.in_flight_max",
         .unit = Unit::bytes,
         .sentence = "Maximum total size of the message bodies of posts in progress.",
         .min = kMiB,
         .max = 64 * kGiB,
         .otherwise = "further messages wait in their queues",
         .use = of_webhooks<&WebhookCounters::bytes_in_flight>}),
    bound<kWebhooks, &Webhooks::answer_bytes_max>(
        {.name = "webhooks.response_max",
         .unit = Unit::bytes,
         .sentence = "Maximum size of the response body that is read from a webhook target.",
         .otherwise = "the remainder is not read and the connection is closed"}),

    bound<kEngine, &Engine::redrive_max>({.name = "retry.redrive_max",
                                          .sentence = "Maximum number of dead letters that one call redrives.",
                                          .codes = {"bad_max"}}),

    bound<kEngine, &Engine::unsealed_segments_max>(
        {.name = "store.unsealed_segments_max",
         .sentence = "Maximum number of full log segments that are not in the index yet. Beyond it puts wait.",
         .otherwise = "puts wait",
         .use = of_engine<&EngineCounters::unsealed_segments>}),

    at<kEngine, &Engine::window_entries_max>(
        {.name = "memory.entries_max",
         .sentence = "Maximum number of messages with an entry in memory, of 72 bytes and a timer each. Beyond it the "
                     "server reads less ahead.",
         .min = 10'000,
         .max = 100'000'000,
         .otherwise = "the server reads less ahead",
         .use = of_engine<&EngineCounters::in_memory>}),
    bound<kEngine, &Engine::ready_max>(
        {.name = "memory.ready_max",
         .sentence = "Maximum number of due messages of a queue in memory, or twice as many if they became due within "
                     "the last second. Further messages wait on disk once they are in the index.",
         .otherwise = "further messages wait on disk"}),
    at<kEngine, &Engine::record_cache_bytes>(
        {.name = "memory.bodies_max",
         .unit = Unit::bytes,
         .sentence = "Maximum total size of the bodies kept in memory for messages that are due soon.",
         .min = 0,
         .max = 64 * kGiB,
         .otherwise = "further bodies are read from disk",
         .use = of_engine<&EngineCounters::cached_bytes>}),
};

std::string bytes_in_words(std::int64_t bytes) {
    if (bytes >= kGiB && bytes % kGiB == 0) return std::to_string(bytes / kGiB) + " GiB";
    if (bytes >= kMiB && bytes % kMiB == 0) return std::to_string(bytes / kMiB) + " MiB";
    if (bytes >= kKiB && bytes % kKiB == 0) return std::to_string(bytes / kKiB) + " KiB";
    return std::to_string(bytes) + " bytes";
}

// 1000000 as "1,000,000".
std::string count_in_words(std::int64_t count) {
    const std::string digits = std::to_string(count);
    std::string words;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0) words += ',';
        words += digits[i];
    }
    return words;
}

std::string beyond_in_words(const Limit& limit) {
    std::string words;
    for (const std::string_view code : limit.codes) {
        if (!code.empty()) words.append(words.empty() ? "`" : ", `").append(code).append("`");
    }
    if (!limit.otherwise.empty()) words.append(words.empty() ? "" : "; ").append(limit.otherwise);
    return words;
}

}  // namespace

std::span<const Limit> limits() {
    return kLimits;
}

const Limit* find_limit(std::string_view name) {
    const auto* found =
        std::find_if(std::begin(kLimits), std::end(kLimits), [&](const Limit& limit) { return limit.name == name; });
    return found == std::end(kLimits) ? nullptr : found;
}

std::string limit_in_words(const Limit& limit, std::int64_t value) {
    switch (limit.unit) {
        case Unit::bytes:
            return bytes_in_words(value);
        case Unit::milliseconds:
            return format_duration(value);
        case Unit::count:
            break;
    }
    return count_in_words(value);
}

std::string limits_table() {
    const ServerOptions defaults;
    std::string page = "| limit | what | default | beyond it |\n|---|---|---|---|\n";
    for (const Limit& limit : limits()) {
        page.append("| `").append(limit.name).append("` | ").append(limit.sentence).append(" | ");
        page += limit_in_words(limit, limit.read(defaults));
        if (limit.is_fixed()) page += ", fixed";
        page += " | " + beyond_in_words(limit) + " |\n";
    }
    return page;
}

}  // namespace duewheel

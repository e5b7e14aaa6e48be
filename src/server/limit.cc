#include "server/limit.h"

#include <algorithm>
#include <iterator>
#include <type_traits>

#include "calendar/duration.h"
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
constexpr std::int64_t kLeaseUnasked = 30 * kSecond;  // an extension that says nothing must always be allowed
constexpr std::int64_t kKiB = 1 << 10;
constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kGiB = 1 << 30;

// How long names may be at most is part of how large a record of the log may be.
constexpr std::int64_t kNameMost = 200;
constexpr std::int64_t kKeyMost = 256;

template <class T>
std::int64_t to_number(const T& held) {
    if constexpr (std::is_same_v<T, std::chrono::milliseconds>)
        return held.count();
    else
        return static_cast<std::int64_t>(held);
}

// A limit that lies at this path of members in a ServerOptions.
template <auto... Path>
constexpr Limit at(Limit limit) {
    limit.read = [](const ServerOptions& options) { return to_number((options.*....*Path)); };
    limit.write = [](ServerOptions& options, std::int64_t value) {
        auto& place = (options.*....*Path);
        place = static_cast<std::remove_reference_t<decltype(place)>>(value);
    };
    return limit;
}

// One that lies there and that no setting changes.
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
    at<kHttp, &Http::connections_max>({.name = "http.connections_max",
                                       .sentence = "Open connections; further clients wait until one closes.",
                                       .least = 1,
                                       .most = 1'000'000,
                                       .otherwise = "wait in the kernel's queue",
                                       .use = of_http<&HttpCounters::connections_open>}),
    at<kHttp, &Http::body_bytes_max>({.name = "http.body_max",
                                      .unit = Unit::bytes,
                                      .sentence = "Body of one request.",
                                      .least = 64 * kKiB,
                                      .most = kGiB,
                                      .codes = {"body_too_large"}}),
    at<kHttp, &Http::header_bytes_max>({.name = "http.header_max",
                                        .unit = Unit::bytes,
                                        .sentence = "All header fields of one request, with the ends of their lines.",
                                        .least = kKiB,
                                        .most = kMiB,
                                        .codes = {"header_too_large"}}),
    at<kHttp, &Http::header_count_max>({.name = "http.header_fields_max",
                                        .sentence = "Header fields of one request.",
                                        .least = 8,
                                        .most = 10'000,
                                        .codes = {"header_too_large"}}),
    at<kHttp, &Http::target_bytes_max>({.name = "http.target_max",
                                        .unit = Unit::bytes,
                                        .sentence = "Path and parameters of one request.",
                                        .least = kKiB,
                                        .most = kMiB,
                                        .codes = {"target_too_long"}}),
    at<kHttp, &Http::unfinished_bytes_max>(
        {.name = "http.unfinished_max",
         .unit = Unit::bytes,
         .sentence = "Requests that have arrived in part, of all clients together; the one that crosses it is refused.",
         .least = kMiB,
         .most = 1024 * kGiB,
         .codes = {"overloaded"},
         .use = of_http<&HttpCounters::unfinished_bytes>}),
    at<kHttp, &Http::pipeline_max>({.name = "http.pipeline_max",
                                    .sentence = "Requests of one connection that wait for their answers; then reading "
                                                "pauses.",
                                    .least = 1,
                                    .most = 1'000'000,
                                    .otherwise = "not read until answers have left"}),
    at<kHttp, &Http::reads_max>({.name = "http.reads_max",
                                 .sentence = "Reads of one connection that are worked on at a time; then reading "
                                             "pauses, as their answers may be large.",
                                 .least = 1,
                                 .most = 1'000'000,
                                 .otherwise = "not read until answers have left"}),
    at<kHttp, &Http::output_bytes_max>({.name = "http.output_max",
                                        .unit = Unit::bytes,
                                        .sentence = "Answers of one connection that the client has not read; then "
                                                    "reading pauses.",
                                        .least = 64 * kKiB,
                                        .most = kGiB,
                                        .otherwise = "not read until answers have left"}),
    at<kHttp, &Http::unsent_bytes_max>(
        {.name = "http.unsent_max",
         .unit = Unit::bytes,
         .sentence = "Answers that have not left, of all connections together; beyond, those that hold most are cut.",
         .least = kMiB,
         .most = 1024 * kGiB,
         .otherwise = "the connection is cut",
         .use = of_http<&HttpCounters::unsent_bytes>}),
    at<kHttp, &Http::header_deadline>({.name = "http.header_timeout",
                                       .unit = Unit::milliseconds,
                                       .sentence = "From a request's first byte to the end of its header.",
                                       .least = kSecond,
                                       .most = kHour,
                                       .codes = {"request_timeout"}}),
    at<kHttp, &Http::body_deadline>({.name = "http.body_timeout",
                                     .unit = Unit::milliseconds,
                                     .sentence = "For all of a request's body.",
                                     .least = kSecond,
                                     .most = kHour,
                                     .codes = {"request_timeout"}}),
    at<kHttp, &Http::idle_timeout>({.name = "http.idle_timeout",
                                    .unit = Unit::milliseconds,
                                    .sentence = "A connection without a request is closed after it.",
                                    .least = kSecond,
                                    .most = kDay,
                                    .otherwise = "closed"}),
    at<kHttp, &Http::write_deadline>({.name = "http.write_timeout",
                                      .unit = Unit::milliseconds,
                                      .sentence = "For a client to take 64 KiB of its answers, or the rest of them.",
                                      .least = kSecond,
                                      .most = kHour,
                                      .otherwise = "closed"}),

    at<kApi, &Api::queue_name_bytes_max>(
        {.name = "limits.queue_name_max",
         .unit = Unit::bytes,
         .sentence = "Name of a queue, a namespace, a schedule, a watchdog.",
         .least = kDefaultNamespace.size(),
         .most = kNameMost,
         .codes = {"bad_queue_name", "bad_namespace", "bad_schedule_name", "bad_watchdog_name"}}),
    at<kApi, &Api::body_bytes_max>({.name = "limits.body_max",
                                    .unit = Unit::bytes,
                                    .sentence = "Body of one message, decoded.",
                                    .least = kKiB,
                                    .most = 32 * kMiB,
                                    .codes = {"body_too_large"}}),
    at<kApi, &Api::headers_max>({.name = "limits.headers_max",
                                 .sentence = "Headers of one message.",
                                 .least = 0,
                                 .most = 1'000,
                                 .codes = {"headers_too_large"}}),
    at<kApi, &Api::headers_bytes_max>({.name = "limits.headers_size_max",
                                       .unit = Unit::bytes,
                                       .sentence = "Headers of one message, names and values together.",
                                       .least = 0,
                                       .most = kMiB,
                                       .codes = {"headers_too_large"}}),
    at<kApi, &Api::key_bytes_max>({.name = "limits.key_max",
                                   .unit = Unit::bytes,
                                   .sentence = "An idempotency key.",
                                   .least = 1,
                                   .most = kKeyMost,
                                   .codes = {"bad_key"}}),
    fixed<kOrderKeyBytesMax>(
        {.name = "limits.order_key_max", .unit = Unit::bytes, .sentence = "An order key.", .codes = {"bad_order_key"}}),
    fixed<kMediaTypeBytesMax>({.name = "limits.content_type_max",
                               .unit = Unit::bytes,
                               .sentence = "Media type of a message.",
                               .codes = {"bad_content_type", "unsupported_media_type"}}),
    fixed<kReasonBytesMax>({.name = "limits.reason_max",
                            .unit = Unit::bytes,
                            .sentence = "The reason of a failure.",
                            .otherwise = "the rest is cut off"}),
    fixed<kRetryAttemptsMax>(
        {.name = "limits.attempts_max", .sentence = "Attempts of a message.", .codes = {"out_of_range"}}),
    fixed<kRetryRestMaxMs>({.name = "limits.rest_max",
                            .unit = Unit::milliseconds,
                            .sentence = "Rest between two attempts, its jitter apart.",
                            .codes = {"out_of_range"}}),
    at<kEngine, &Engine::repeat_times_max>({.name = "limits.repeat_times_max",
                                            .sentence = "Occurrences of a loop, or a schedule, that has an end.",
                                            .least = 1,
                                            .most = 1'000'000'000'000,
                                            .codes = {"out_of_range"}}),
    fixed<kRepeatEveryMaxMs>({.name = "limits.repeat_every_max",
                              .unit = Unit::milliseconds,
                              .sentence = "Rest between two occurrences of a loop, or two runs of a schedule.",
                              .codes = {"out_of_range"}}),
    at<kEngine, &Engine::check_times_max>(
        {.name = "limits.check_times_max",
         .sentence = "Times that the producer of a message in a transaction is asked.",
         .least = 1,
         .most = 1'000'000,
         .codes = {"out_of_range"}}),
    at<kEngine, &Engine::schedules_max>({.name = "limits.schedules_max",
                                         .sentence = "Schedules.",
                                         .least = 1,
                                         .most = 10'000'000,
                                         .codes = {"schedule_limit"},
                                         .use = of_engine<&EngineCounters::schedules>}),
    at<kEngine, &Engine::watchdogs_max>({.name = "limits.watchdogs_max",
                                         .sentence = "Watchdogs.",
                                         .least = 1,
                                         .most = 100'000'000,
                                         .codes = {"watchdog_limit"},
                                         .use = of_engine<&EngineCounters::watchdogs>}),
    fixed<kWatchdogMostMs>({.name = "limits.watchdog_timeout_max",
                            .unit = Unit::milliseconds,
                            .sentence = "Timeout of a watchdog, and its `most` and `again`.",
                            .codes = {"out_of_range"}}),
    fixed<kCronBytesMax>(
        {.name = "limits.cron_max", .unit = Unit::bytes, .sentence = "A cron expression.", .codes = {"bad_cron"}}),
    fixed<kIntervalBytesMax>({.name = "limits.interval_text_max",
                              .unit = Unit::bytes,
                              .sentence = "A repeating interval, `iso` of a schedule.",
                              .codes = {"bad_interval"}}),
    fixed<kClosedDaysBytesMax>({.name = "limits.closed_days_max",
                                .unit = Unit::bytes,
                                .sentence = "Closed days of a schedule, as they are written.",
                                .codes = {"bad_exclusion"}}),
    fixed<kPreviewMax>({.name = "limits.preview_max", .sentence = "Times of one preview.", .codes = {"out_of_range"}}),
    at<kEngine, &Engine::runs_made_up_max>({.name = "limits.made_up_max",
                                            .sentence = "Missed runs of a schedule that are made up for in a row.",
                                            .least = 1,
                                            .most = 1'000'000,
                                            .otherwise = "the rest is skipped, and recorded so"}),
    at<kApi, &Api::batch_max>({.name = "limits.batch_max",
                               .sentence = "Messages of one batch put, leases of one call.",
                               .least = 1,
                               .most = 1'000,
                               .codes = {"batch_too_large"}}),
    fixed<kJsonDepthMax>(
        {.name = "limits.json_depth_max", .sentence = "Levels of JSON, one within the other.", .codes = {"too_deep"}}),
    fixed<kJsonMembersMax>({.name = "limits.json_members_max",
                            .sentence = "Members of JSON, with those of `headers` and `leases`.",
                            .codes = {"too_many_members"}}),
    at<kEngine, &Engine::delay_max_ms>({.name = "limits.delay_max",
                                        .unit = Unit::milliseconds,
                                        .sentence = "How far ahead a message may be due, or expire.",
                                        .least = kSecond,
                                        .most = 36'500 * kDay,
                                        .codes = {"delay_too_long"}}),
    at<kEngine, &Engine::lease_min_ms>({.name = "limits.lease_min",
                                        .unit = Unit::milliseconds,
                                        .sentence = "The shortest lease.",
                                        .least = 100,
                                        .most = kLeaseUnasked,
                                        .codes = {"lease_too_short"}}),
    at<kEngine, &Engine::lease_max_ms>({.name = "limits.lease_max",
                                        .unit = Unit::milliseconds,
                                        .sentence = "The longest lease.",
                                        .least = kLeaseUnasked,
                                        .most = 365 * kDay,
                                        .codes = {"lease_too_long"}}),
    at<kEngine, &Engine::wait_max_ms>({.name = "limits.wait_max",
                                       .unit = Unit::milliseconds,
                                       .sentence = "How long a consumer may wait for a message.",
                                       .least = 0,
                                       .most = kDay,
                                       .codes = {"wait_too_long"}}),
    at<kEngine, &Engine::lease_batch_max>({.name = "limits.lease_batch_max",
                                           .sentence = "Messages of one lease call.",
                                           .least = 1,
                                           .most = 100'000,
                                           .codes = {"bad_max"}}),
    at<kEngine, &Engine::lease_bytes_max>(
        {.name = "limits.lease_answer_max",
         .unit = Unit::bytes,
         .sentence = "Messages of one lease call together; one that is larger comes alone.",
         .least = kKiB,
         .most = kGiB,
         .otherwise = "the others come with the next call"}),
    fixed<kListLimitMax>({.name = "limits.page_max",
                          .sentence = "Messages, queues, schedules, watchdogs or namespaces of one page of a listing.",
                          .codes = {"out_of_range"}}),
    fixed<kForecastMinutesMax>(
        {.name = "limits.forecast_minutes_max", .sentence = "Minutes of one forecast.", .codes = {"out_of_range"}}),
    at<kEngine, &Engine::forecast_walk_max>(
        {.name = "limits.forecast_rows_max",
         .sentence = "Rows of the index that are looked at for one forecast, and times of schedules.",
         .least = 1,
         .most = 1'000'000'000,
         .otherwise = "later minutes say `at_least`"}),
    at<kEngine, &Engine::listings_max>(
        {.name = "limits.listings_max",
         .sentence = "Listings and forecasts that are being made at one time, those of the dead and of history too.",
         .least = 1,
         .most = 100'000,
         .codes = {"too_busy"},
         .use = of_engine<&EngineCounters::listings>}),
    at<kEngine, &Engine::redrives_max>({.name = "limits.redrives_max",
                                        .sentence = "Calls that bring back the dead of a queue, at one time.",
                                        .least = 1,
                                        .most = 1'000,
                                        .codes = {"too_busy"}}),
    at<kEngine, &Engine::queues_max>({.name = "limits.queues_max",
                                      .sentence = "Queues.",
                                      .least = 1,
                                      .most = 10'000'000,
                                      .codes = {"queue_limit"},
                                      .use = of_engine<&EngineCounters::queue_names>}),
    at<kEngine, &Engine::namespaces_max>({.name = "limits.namespaces_max",
                                          .sentence = "Namespaces that have settings.",
                                          .least = 1,
                                          .most = 1'000'000,
                                          .codes = {"namespace_limit"},
                                          .use = of_engine<&EngineCounters::namespaces>}),
    bound<kEngine, &Engine::pending_limit_max>({.name = "limits.pending_max",
                                                .sentence = "What a queue's `limits.pending` and each of a "
                                                            "namespace's `limits` may be.",
                                                .codes = {"out_of_range"}}),
    at<kEngine, &Engine::waiters_per_queue_max>({.name = "limits.waiters_per_queue_max",
                                                 .sentence = "Consumers that wait on one queue.",
                                                 .least = 1,
                                                 .most = 1'000'000,
                                                 .codes = {"waiter_limit"}}),
    at<kEngine, &Engine::leased_max>({.name = "limits.leased_max",
                                      .sentence = "Messages that consumers hold at a time; further ones wait in their "
                                                  "queues.",
                                      .least = 1,
                                      .most = 100'000'000,
                                      .otherwise = "none is handed out until a lease ends",
                                      .use = of_engine<&EngineCounters::leased>}),
    at<kEngine, &Engine::commands_waiting_max>({.name = "limits.commands_waiting_max",
                                                .sentence = "Requests that wait for the disk.",
                                                .least = 100,
                                                .most = 10'000'000,
                                                .codes = {"too_busy"},
                                                .use = of_engine<&EngineCounters::commands_waiting>}),
    at<kEngine, &Engine::waiting_bytes_max>({.name = "limits.waiting_max",
                                             .unit = Unit::bytes,
                                             .sentence = "Content of the puts among them.",
                                             .least = kMiB,
                                             .most = 64 * kGiB,
                                             .codes = {"too_busy"},
                                             .use = of_engine<&EngineCounters::waiting_bytes>}),
    at<kEngine, &Engine::reading_bytes_max>({.name = "limits.reading_max",
                                             .unit = Unit::bytes,
                                             .sentence = "Messages that are being read from the disk for whoever looks "
                                                         "at them.",
                                             .least = kMiB,
                                             .most = 64 * kGiB,
                                             .codes = {"too_busy"},
                                             .use = of_engine<&EngineCounters::reading_bytes>}),

    fixed<kWebhookUrlBytesMax>({.name = "webhooks.url_max",
                                .unit = Unit::bytes,
                                .sentence = "URL of a webhook.",
                                .codes = {"bad_webhook_url"}}),
    fixed<kWebhookSecretsMax>({.name = "webhooks.secrets_max",
                               .sentence = "Secrets that one webhook is signed with.",
                               .codes = {"bad_webhook_secret"}}),
    fixed<kWebhookSecretNameBytesMax>({.name = "webhooks.secret_name_max",
                                       .unit = Unit::bytes,
                                       .sentence = "Name of a webhook's secret.",
                                       .codes = {"bad_webhook_secret"}}),
    fixed<kWebhookRateMax>({.name = "webhooks.rate_max",
                            .sentence = "Posts a second that a queue's webhook may be limited to.",
                            .codes = {"out_of_range"}}),
    at<kWebhooks, &Webhooks::timeout_max_ms>({.name = "webhooks.timeout_max",
                                              .unit = Unit::milliseconds,
                                              .sentence = "How long the answer to a webhook may be waited for.",
                                              .least = kSecond,
                                              .most = kHour,
                                              .codes = {"out_of_range"}}),
    at<kWebhooks, &Webhooks::concurrency_max>({.name = "webhooks.concurrency_max",
                                               .sentence = "Posts under way at a time of one queue.",
                                               .least = 1,
                                               .most = 10'000,
                                               .codes = {"out_of_range"}}),
    at<kWebhooks, &Webhooks::connections_max>({.name = "webhooks.connections_max",
                                               .sentence = "Posts under way at a time, of all queues together.",
                                               .least = 1,
                                               .most = 10'000,
                                               .otherwise = "the others wait in their queues",
                                               .use = of_webhooks<&WebhookCounters::under_way>}),
    at<kWebhooks, &Webhooks::bytes_under_way_max>(
        {.name = "webhooks.under_way_max",
         .unit = Unit::bytes,
         .sentence = "Bodies of what is being posted; then no more is taken out of queues until some are answered.",
         .least = kMiB,
         .most = 64 * kGiB,
         .otherwise = "the others wait in their queues",
         .use = of_webhooks<&WebhookCounters::bytes_under_way>}),
    at<kWebhooks, &Webhooks::answer_bytes_max>({.name = "webhooks.answer_max",
                                                .unit = Unit::bytes,
                                                .sentence = "Body of an answer to a webhook that is read.",
                                                .least = kKiB,
                                                .most = kMiB,
                                                .otherwise = "the rest is not read, and the connection closed"}),

    at<kEngine, &Engine::redrive_max>({.name = "retry.redrive_max",
                                       .sentence = "Dead messages that one call brings back.",
                                       .least = 1,
                                       .most = 10'000'000,
                                       .codes = {"bad_max"}}),

    at<kEngine, &Engine::unsealed_segments_max>({.name = "store.unsealed_segments_max",
                                                 .sentence = "Full files of the log that are not in the index yet; "
                                                             "then puts wait.",
                                                 .least = 1,
                                                 .most = 64,
                                                 .otherwise = "puts wait",
                                                 .use = of_engine<&EngineCounters::unsealed_segments>}),

    at<kEngine, &Engine::window_entries_max>({.name = "memory.entries_max",
                                              .sentence =
                                                  "Messages with an entry in memory, of 72 bytes and its timer; "
                                                  "beyond, less is read ahead.",
                                              .least = 10'000,
                                              .most = 100'000'000,
                                              .otherwise = "less is read ahead",
                                              .use = of_engine<&EngineCounters::in_memory>}),
    at<kEngine, &Engine::ready_max>({.name = "memory.ready_max",
                                     .sentence =
                                         "Due messages of one queue in memory, twice as many where they fell due "
                                         "within the last second, beyond which those that are in the "
                                         "index wait on disk; those that are not in it yet stay.",
                                     .least = 100,
                                     .most = 100'000'000,
                                     .otherwise = "what the index has waits on disk"}),
    at<kEngine, &Engine::record_cache_bytes>({.name = "memory.bodies_max",
                                              .unit = Unit::bytes,
                                              .sentence = "Bodies kept in memory for messages that are due soon.",
                                              .least = 0,
                                              .most = 64 * kGiB,
                                              .otherwise = "the rest is read from disk",
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

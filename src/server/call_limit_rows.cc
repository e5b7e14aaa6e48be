// The limits of calls, of what they may ask for, and of what waits for the server (server/limit.h).
#include "ingress/json_request.h"
#include "ingress/list_request.h"
#include "server/limit_rows.h"

namespace duewheel::limit_rows {

std::span<const Limit> of_calls() {
    static constexpr Limit kRows[] = {
        bound<kApi, &Api::batch_max>(
            {.name = "limits.batch_max",
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
             .sentence =
                 "Maximum number of messages, queues, schedules, watchdogs or namespaces on a page of a listing.",
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
    };
    return kRows;
}

}  // namespace duewheel::limit_rows

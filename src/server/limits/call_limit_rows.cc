// The limits of calls, of what they may ask for, and of what waits for the server (server/limits/limit.h).
#include "base/error_codes.h"
#include "http_api/fields/json_request.h"
#include "http_api/requests/list_request.h"
#include "server/limits/limit_rows.h"

namespace duewheel::limit_rows {

std::span<const Limit> of_calls() {
    static constexpr Limit kRows[] = {
        bound<kApi, &Api::batch_max>("limits.batch_max", Unit::count,
                                     "Maximum number of messages in a batch put, and of leases in one call.",
                                     {.codes = {"batch_too_large"_code}}),
        fixed<kJsonDepthMax>("limits.json_depth_max", Unit::count, "Maximum nesting depth of JSON.",
                             {.codes = {"too_deep"_code}}),
        fixed<kJsonMembersMax>("limits.json_members_max", Unit::count,
                               "Maximum number of JSON members in a request, those of `headers` and `leases` included.",
                               {.codes = {"too_many_members"_code}}),
        bound<kEngine, &Engine::delay_max_ms>("limits.delay_max", Unit::milliseconds,
                                              "Maximum time until a message is due or expires.",
                                              {.codes = {"delay_too_long"_code}}),
        bound<kEngine, &Engine::lease_min_ms>("limits.lease_min", Unit::milliseconds, "Minimum duration of a lease.",
                                              {.codes = {"lease_too_short"_code}}),
        at<kEngine, &Engine::lease_max_ms>(
            "limits.lease_max", Unit::milliseconds, "Maximum duration of a lease.",
            {.min = kLeaseUnspecified, .max = 365 * kDay, .codes = {"lease_too_long"_code}}),
        bound<kEngine, &Engine::wait_max_ms>("limits.wait_max", Unit::milliseconds,
                                             "Maximum time that a lease call waits for a message, and a GET for the "
                                             "end of one.",
                                             {.codes = {"wait_too_long"_code}}),
        bound<kEngine, &Engine::lease_batch_max>("limits.lease_batch_max", Unit::count,
                                                 "Maximum number of messages in a lease call.",
                                                 {.codes = {"bad_max"_code}}),
        bound<kEngine, &Engine::lease_bytes_max>(
            "limits.lease_response_max", Unit::bytes,
            "Maximum total size of the messages in a lease call. A larger message is delivered alone.",
            {.otherwise = "further messages come with the next call"}),
        fixed<kListLimitMax>(
            "limits.page_max", Unit::count,
            "Maximum number of messages, queues, schedules, watchdogs or namespaces on a page of a listing.",
            {.codes = {"out_of_range"_code}}),
        fixed<kForecastMinutesMax>("limits.forecast_minutes_max", Unit::count,
                                   "Maximum number of minutes in a forecast.", {.codes = {"out_of_range"_code}}),
        bound<kEngine, &Engine::forecast_walk_max>(
            "limits.forecast_rows_max", Unit::count,
            "Maximum number of index rows and schedule times that a forecast reads.",
            {.otherwise = "later minutes have `at_least`"}),
        bound<kEngine, &Engine::listings_max>(
            "limits.listings_max", Unit::count,
            "Maximum number of listings and forecasts in progress, listings of "
            "dead letters and of the history included.",
            {.codes = {"too_busy"_code}, .use = of_engine<&EngineCounters::listings>, .is_shared = true}),
        bound<kEngine, &Engine::redrives_max>("limits.redrives_max", Unit::count,
                                              "Maximum number of redrives of dead letters in progress.",
                                              {.codes = {"too_busy"_code}, .is_shared = true}),
        at<kEngine, &Engine::queues_max>("limits.queues_max", Unit::count, "Maximum number of queues.",
                                         {.min = 1,
                                          .max = 10'000'000,
                                          .codes = {"queue_limit"_code},
                                          .use = of_engine<&EngineCounters::queue_names>,
                                          .is_shared = true}),
        at<kEngine, &Engine::namespaces_max>("limits.namespaces_max", Unit::count,
                                             "Maximum number of namespaces that have settings.",
                                             {.min = 1,
                                              .max = 1'000'000,
                                              .codes = {"namespace_limit"_code},
                                              .use = of_engine<&EngineCounters::namespaces>}),
        bound<kEngine, &Engine::pending_limit_max>(
            "limits.pending_max", Unit::count,
            "Maximum value of a queue's `limits.pending` and of each of a namespace's `limits`.",
            {.codes = {"out_of_range"_code}}),
        at<kEngine, &Engine::waiters_per_queue_max>("limits.waiters_per_queue_max", Unit::count,
                                                    "Maximum number of consumers that wait on a queue.",
                                                    {.min = 1, .max = 1'000'000, .codes = {"waiter_limit"_code}}),
        at<kEngine, &Engine::message_waits_max>("limits.message_waits_max", Unit::count,
                                                "Maximum number of requests that wait for the end of a message.",
                                                {.min = 1,
                                                 .max = 1'000'000,
                                                 .codes = {"waiter_limit"_code},
                                                 .use = of_engine<&EngineCounters::message_waits>,
                                                 .is_shared = true}),
        at<kEngine, &Engine::leased_max>("limits.leased_max", Unit::count,
                                         "Maximum number of leased messages. Further messages wait in their queues.",
                                         {.min = 1,
                                          .max = 100'000'000,
                                          .otherwise = "no message is delivered until a lease ends",
                                          .use = of_engine<&EngineCounters::leased>,
                                          .is_shared = true}),
        bound<kEngine, &Engine::commands_waiting_max>(
            "limits.commands_waiting_max", Unit::count, "Maximum number of requests that wait for the disk.",
            {.codes = {"too_busy"_code}, .use = of_engine<&EngineCounters::commands_waiting>, .is_shared = true}),
        at<kEngine, &Engine::waiting_bytes_max>("limits.waiting_max", Unit::bytes,
                                                "Maximum total size of puts that wait for the disk.",
                                                {.min = kMiB,
                                                 .max = 64 * kGiB,
                                                 .codes = {"too_busy"_code},
                                                 .use = of_engine<&EngineCounters::waiting_bytes>,
                                                 .is_shared = true}),
        bound<kEngine, &Engine::reading_bytes_max>(
            "limits.reading_max", Unit::bytes,
            "Maximum total size of messages that are being read from disk to be shown.",
            {.codes = {"too_busy"_code}, .use = of_engine<&EngineCounters::reading_bytes>}),
    };
    return kRows;
}

}  // namespace duewheel::limit_rows

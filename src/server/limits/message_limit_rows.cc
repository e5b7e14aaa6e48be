// The limits of a message, a schedule and a watchdog (server/limits/limit.h).
#include "base/error_codes.h"
#include "http_api/answers/schedule_text.h"
#include "http_api/fields/content_members.h"
#include "http_api/fields/field_syntax.h"
#include "http_api/requests/schedule_request.h"
#include "message/failure_reason.h"
#include "message/message.h"
#include "message/retry_rule.h"
#include "message/work_state.h"
#include "resource/group_settings.h"
#include "server/limits/limit_rows.h"

namespace duewheel::limit_rows {

std::span<const Limit> of_messages() {
    static constexpr Limit kRows[] = {
        bound<kApi, &Api::queue_name_bytes_max>("limits.queue_name_max", Unit::bytes,
                                                "Maximum size of the name of a queue, namespace, schedule or watchdog.",
                                                {.codes = {"bad_queue_name"_code, "bad_namespace"_code,
                                                           "bad_schedule_name"_code, "bad_watchdog_name"_code}}),
        at<kApi, &Api::body_bytes_max>("limits.body_max", Unit::bytes,
                                       "Maximum size of a message body, after decoding.",
                                       {.min = kKiB, .max = 32 * kMiB, .codes = {"body_too_large"_code}}),
        bound<kApi, &Api::headers_max>("limits.headers_max", Unit::count, "Maximum number of headers of a message.",
                                       {.codes = {"headers_too_large"_code}}),
        bound<kApi, &Api::headers_bytes_max>("limits.headers_size_max", Unit::bytes,
                                             "Maximum size of the headers of a message, names and values together.",
                                             {.codes = {"headers_too_large"_code}}),
        bound<kApi, &Api::key_bytes_max>("limits.key_max", Unit::bytes, "Maximum size of an idempotency key.",
                                         {.codes = {"bad_key"_code}}),
        fixed<kOrderKeyBytesMax>("limits.order_key_max", Unit::bytes, "Maximum size of an order key.",
                                 {.codes = {"bad_order_key"_code}}),
        fixed<kGroupBytesMax>("limits.group_max", Unit::bytes, "Maximum size of the name of a group.",
                              {.codes = {"bad_group"_code}}),
        fixed<kMediaTypeBytesMax>("limits.content_type_max", Unit::bytes,
                                  "Maximum size of the media type of a message.",
                                  {.codes = {"bad_content_type"_code, "unsupported_media_type"_code}}),
        fixed<kReasonBytesMax>("limits.reason_max", Unit::bytes, "Maximum size of the reason of a failure.",
                               {.otherwise = "its beginning and its end are kept"}),
        fixed<kWorkerNameBytesMax>("limits.worker_max", Unit::bytes, "Maximum size of the name of a worker.",
                                   {.codes = {"bad_worker"_code}}),
        fixed<kProgressBytesMax>("limits.progress_max", Unit::bytes, "Maximum size of the progress of a message.",
                                 {.codes = {"bad_progress"_code}}),
        fixed<kCheckpointBytesMax>("limits.checkpoint_max", Unit::bytes, "Maximum size of the checkpoint of a message.",
                                   {.codes = {"checkpoint_too_large"_code}}),
        fixed<kResultBytesMax>("limits.result_max", Unit::bytes, "Maximum size of the result of a message.",
                               {.codes = {"out_of_range"_code}}),
        fixed<kRetryAttemptsMax>("limits.attempts_max", Unit::count, "Maximum number of attempts of a message.",
                                 {.codes = {"out_of_range"_code}}),
        fixed<kRetryBackoffMaxMs>("limits.backoff_max", Unit::milliseconds,
                                  "Maximum backoff between two attempts, without jitter.",
                                  {.codes = {"out_of_range"_code}}),
        bound<kEngine, &Engine::repeat_times_max>(
            "limits.repeat_times_max", Unit::count,
            "Maximum number of occurrences of a recurring message, or of runs of a schedule, that has an end.",
            {.codes = {"out_of_range"_code}}),
        at<kEngine, &Engine::catch_up_rate>(
            "limits.catch_up_rate", Unit::count,
            "Maximum number of messages a second that the recurring messages and schedules of a namespace create while "
            "they are more than a minute behind.",
            {.min = 1, .max = 1'000'000, .otherwise = "the others are created later"}),
        fixed<kRepeatEveryMaxMs>(
            "limits.repeat_every_max", Unit::milliseconds,
            "Maximum interval between two occurrences of a recurring message, or two runs of a schedule.",
            {.codes = {"out_of_range"_code}}),
        bound<kEngine, &Engine::check_times_max>("limits.check_times_max", Unit::count,
                                                 "Maximum number of checks of a prepared message, which ask its "
                                                 "producer for the outcome of the transaction.",
                                                 {.codes = {"out_of_range"_code}}),
        at<kEngine, &Engine::schedules_max>("limits.schedules_max", Unit::count, "Maximum number of schedules.",
                                            {.min = 1,
                                             .max = 10'000'000,
                                             .codes = {"schedule_limit"_code},
                                             .use = of_engine<&EngineCounters::schedules>,
                                             .is_shared = true}),
        at<kEngine, &Engine::watchdogs_max>("limits.watchdogs_max", Unit::count, "Maximum number of watchdogs.",
                                            {.min = 1,
                                             .max = 100'000'000,
                                             .codes = {"watchdog_limit"_code},
                                             .use = of_engine<&EngineCounters::watchdogs>,
                                             .is_shared = true}),
        fixed<kWatchdogMaxMs>("limits.watchdog_timeout_max", Unit::milliseconds,
                              "Maximum timeout of a watchdog, and maximum value of its `max` and `repeat_every`.",
                              {.codes = {"out_of_range"_code}}),
        fixed<kCronBytesMax>("limits.cron_max", Unit::bytes, "Maximum size of a cron expression.",
                             {.codes = {"bad_cron"_code}}),
        fixed<kIntervalBytesMax>("limits.interval_text_max", Unit::bytes,
                                 "Maximum size of a repeating interval, the `iso` of a schedule.",
                                 {.codes = {"bad_interval"_code}}),
        fixed<kClosedDaysBytesMax>("limits.closed_days_max", Unit::bytes,
                                   "Maximum size of the text that lists the closed days of a schedule.",
                                   {.codes = {"bad_exclusion"_code}}),
        fixed<kPreviewMax>("limits.preview_max", Unit::count, "Maximum number of times in a preview.",
                           {.codes = {"out_of_range"_code}}),
        bound<kEngine, &Engine::runs_catch_up_max>(
            "limits.catch_up_max", Unit::count, "Maximum number of missed runs that a schedule makes up for in a row.",
            {.otherwise = "further runs are skipped and recorded as skipped"}),
    };
    return kRows;
}

}  // namespace duewheel::limit_rows

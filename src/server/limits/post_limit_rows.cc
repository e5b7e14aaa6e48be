// The limits of webhooks and their posts (server/limits/limit.h).
#include "base/error_codes.h"
#include "resource/webhook_target.h"
#include "server/limits/limit_rows.h"

namespace duewheel::limit_rows {

std::span<const Limit> of_posts() {
    static constexpr Limit kRows[] = {
        fixed<kWebhookUrlBytesMax>("webhooks.url_max", Unit::bytes, "Maximum size of the URL of a webhook.",
                                   {.codes = {"bad_webhook_url"_code}}),
        fixed<kWebhookSecretsMax>("webhooks.secrets_max", Unit::count,
                                  "Maximum number of secrets that sign the posts of a webhook.",
                                  {.codes = {"bad_webhook_secret"_code}}),
        fixed<kWebhookSecretNameBytesMax>("webhooks.secret_name_max", Unit::bytes,
                                          "Maximum size of the name of a webhook secret.",
                                          {.codes = {"bad_webhook_secret"_code}}),
        fixed<kWebhookHeadersMax>("webhooks.headers_max", Unit::count, "Maximum number of headers of a webhook.",
                                  {.codes = {"bad_webhook_header"_code}}),
        fixed<kWebhookHeadersBytesMax>("webhooks.headers_size_max", Unit::bytes,
                                       "Maximum size of the headers of a webhook, names and values together.",
                                       {.codes = {"bad_webhook_header"_code}}),
        fixed<kWebhookRateMax>("webhooks.rate_max", Unit::count, "Maximum `rate` of a webhook, in posts a second.",
                               {.codes = {"out_of_range"_code}}),
        bound<kWebhooks, &Webhooks::timeout_max_ms>("webhooks.timeout_max", Unit::milliseconds,
                                                    "Maximum `timeout` of a webhook.",
                                                    {.codes = {"out_of_range"_code}}),
        bound<kWebhooks, &Webhooks::concurrency_max>("webhooks.concurrency_max", Unit::count,
                                                     "Maximum `concurrency` of a webhook.",
                                                     {.codes = {"out_of_range"_code}}),
        at<kWebhooks, &Webhooks::connections_max>("webhooks.connections_max", Unit::count,
                                                  "Maximum number of posts in progress, over all queues.",
                                                  {.min = 1,
                                                   .max = 10'000,
                                                   .otherwise = "further messages wait in their queues",
                                                   .use = of_webhooks<&WebhookCounters::in_flight>,
                                                   .is_shared = true}),
        at<kWebhooks, &Webhooks::bytes_in_flight_max>("webhooks.in_flight_max", Unit::bytes,
                                                      "Maximum total size of the message bodies of posts in progress.",
                                                      {.min = kMiB,
                                                       .max = 64 * kGiB,
                                                       .otherwise = "further messages wait in their queues",
                                                       .use = of_webhooks<&WebhookCounters::bytes_in_flight>,
                                                       .is_shared = true}),
        bound<kWebhooks, &Webhooks::answer_bytes_max>(
            "webhooks.response_max", Unit::bytes,
            "Maximum size of the response body that is read from a webhook target.",
            {.otherwise = "the remainder is not read and the connection is closed"}),
    };
    return kRows;
}

}  // namespace duewheel::limit_rows

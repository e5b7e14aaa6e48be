#include "webhook_arguments.h"

#include <utility>

#include "arguments.h"

namespace duewheel {

void WebhookArguments::add_to(CLI::App& verb) {
    verb.add_option("--webhook", url, "Post its messages to this URL instead of keeping them for who leases them");
    verb.add_option("--webhook-secret", secrets,
                    "Sign them with the secret that the server knows by this name; may be given again")
        ->type_name("NAME")
        ->allow_extra_args(false);
    takes_duration(verb.add_option("--webhook-timeout", timeout, "How long its answer is waited for"));
    verb.add_option("--webhook-concurrency", concurrency, "How many are posted at a time");
    verb.add_option("--webhook-rate", rate, "How many are posted a second; else no limit");
}

void WebhookArguments::put_into(boost::json::object& request) const {
    boost::json::object webhook;
    if (url) webhook["url"] = *url;
    if (!secrets.empty()) {
        boost::json::array names;
        for (const std::string& name : secrets) names.emplace_back(boost::json::string_view(name));
        webhook["secrets"] = std::move(names);
    }
    if (!timeout.empty()) webhook["timeout"] = timeout;
    if (concurrency) webhook["concurrency"] = *concurrency;
    if (rate) webhook["rate"] = *rate;
    if (!webhook.empty()) request["target"] = boost::json::object{{"webhook", std::move(webhook)}};
}

}  // namespace duewheel

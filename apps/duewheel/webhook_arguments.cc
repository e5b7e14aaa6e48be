#include "webhook_arguments.h"

#include <utility>

#include "arguments.h"
#include "body_argument.h"
#include "header_arguments.h"

namespace duewheel {

void WebhookArguments::add_to(CLI::App& verb) {
    verb.add_option("--webhook", url, "Post its messages to this URL instead of keeping them for consumers");
    verb.add_option("--webhook-secret", secrets,
                    "Sign posts with the secret of this name in the server's configuration; can be repeated")
        ->type_name("NAME")
        ->allow_extra_args(false);
    takes_duration(verb.add_option("--webhook-timeout", timeout, "Timeout of a post"));
    verb.add_option("--webhook-concurrency", concurrency, "Maximum number of concurrent posts");
    verb.add_option("--webhook-header", headers,
                    "Send this header with each post, such as Authorization=@FILE; the server never shows its value")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    verb.add_option("--webhook-rate", rate, "Maximum number of posts per second; default: no limit");
}

Status WebhookArguments::put_into(boost::json::object& request) const {
    boost::json::object webhook;
    if (url) webhook["url"] = *url;
    if (!secrets.empty()) {
        boost::json::array names;
        for (const std::string& name : secrets) names.emplace_back(boost::json::string_view(name));
        webhook["secrets"] = std::move(names);
    }
    std::vector<std::string> pairs;
    for (const std::string& header : headers) {
        const std::size_t value = header.find("=@");
        if (value == std::string::npos || value != header.find('=')) {
            pairs.push_back(header);
            continue;
        }
        const Result<std::string> content = read_body_argument(header.substr(value + 1));
        if (!content) return Error{content.error().code, content.error().message, "--webhook-header"};
        pairs.push_back(header.substr(0, value + 1) + content->substr(0, content->find_last_not_of("\r\n") + 1));
    }
    if (Status read = put_headers_into(pairs, webhook); !read) {
        return Error{read.error().code, read.error().message, "--webhook-header"};
    }
    if (!timeout.empty()) webhook["timeout"] = timeout;
    if (concurrency) webhook["concurrency"] = *concurrency;
    if (rate) webhook["rate"] = *rate;
    if (!webhook.empty()) request["target"] = boost::json::object{{"webhook", std::move(webhook)}};
    return {};
}

}  // namespace duewheel

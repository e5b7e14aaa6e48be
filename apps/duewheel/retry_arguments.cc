#include "retry_arguments.h"

#include <utility>

#include "arguments.h"

namespace duewheel {

Status put_number_into(const std::string& text, const char* member, const char* option, boost::json::object& rule) {
    if (text.empty()) return {};
    boost::json::error_code broken;
    const boost::json::value value = boost::json::parse(text, broken);
    if (broken || !value.is_number()) {
        return Error{"bad_number", std::string(option) + " takes a number such as 1.5, not " + text + ".", option};
    }
    rule[member] = value;
    return {};
}

void RetryArguments::add_to(CLI::App& verb) {
    verb.add_option("--retry-attempts", attempts, "Deliveries before it becomes a dead letter; 1: no retries");
    takes_duration(verb.add_option("--retry-first", first, "Backoff after the first failure"));
    verb.add_option("--retry-factor", factor, "Factor by which the backoff grows with each failure: 2 doubles it")
        ->type_name("NUMBER");
    takes_duration(verb.add_option("--retry-max", most, "Maximum backoff"));
    verb.add_option("--retry-jitter", jitter,
                    "Random variation of the backoff: 0.2 makes it up to 20 % shorter or longer")
        ->type_name("NUMBER");
}

Status RetryArguments::put_into(boost::json::object& request) const {
    boost::json::object rule;
    if (attempts) rule["attempts"] = *attempts;
    if (!first.empty()) rule["first"] = first;
    if (!most.empty()) rule["max"] = most;
    Status read = put_number_into(factor, "factor", "--retry-factor", rule);
    if (read) read = put_number_into(jitter, "jitter", "--retry-jitter", rule);
    if (read && !rule.empty()) request["retry"] = std::move(rule);
    return read;
}

}  // namespace duewheel

#include "transaction_arguments.h"

#include <utility>

#include "arguments.h"

namespace duewheel {

void TransactionArguments::add_to(CLI::App& verb) {
    CLI::Option* time = verb.add_option("--answer-in", answer_in,
                                        "Time to respond with `commit` or `rollback`, before and after each check");
    takes_duration(time);
    time->required();
    CLI::Option* queue = verb.add_option(
        "--check-queue", check_queue,
        "Queue for check messages, which ask for the outcome when that time is over; default: no checks");
    queue->type_name("QUEUE");
    verb.add_option("--check-times", check_times, "Number of check messages; default 5")->needs(queue);
    verb.add_option("--otherwise", otherwise, "Outcome without a response: rollback (default) or commit")
        ->type_name("WHAT");
}

void TransactionArguments::put_into(boost::json::object& request) const {
    boost::json::object check;
    check["after"] = answer_in;
    if (check_queue) check["queue"] = json_text(*check_queue);
    if (check_times) check["times"] = *check_times;
    boost::json::object transaction;
    transaction["check_back"] = std::move(check);
    if (!otherwise.empty()) transaction["otherwise"] = otherwise;
    request["transaction"] = std::move(transaction);
}

}  // namespace duewheel

#include "transaction_arguments.h"

#include <utility>

#include "arguments.h"

namespace duewheel {

void TransactionArguments::add_to(CLI::App& verb) {
    CLI::Option* time = verb.add_option("--answer-in", answer_in,
                                        "How long it waits for `commit` or `rollback`, each time that you are asked");
    takes_duration(time);
    time->required();
    CLI::Option* queue = verb.add_option("--check-queue", check_queue,
                                         "Where you are asked when that time is over; without it nobody is asked");
    queue->type_name("QUEUE");
    verb.add_option("--check-times", check_times, "How often you are asked; default 5")->needs(queue);
    verb.add_option("--otherwise", otherwise, "What holds without an answer: rollback, the default, or commit")
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

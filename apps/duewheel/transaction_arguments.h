// The transaction of a message on the command line: `--answer-in` and related options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

namespace duewheel {

struct TransactionArguments {
    std::string answer_in;
    std::optional<std::string> check_queue;
    std::optional<std::int64_t> check_times;
    std::string otherwise;

    void add_to(CLI::App& verb);
    // Adds the member `transaction`.
    void put_into(boost::json::object& request) const;
};

}  // namespace duewheel

// The parts of a retry rule on the command line: `--retry-attempts` and so on, as a message and a queue take them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/status.h"

namespace duewheel {

struct RetryArguments {
    std::optional<std::int64_t> attempts;
    std::string first;
    std::string factor;
    std::string most;
    std::string jitter;

    void add_to(CLI::App& verb);
    // Adds the member `retry` where a part was given. Code: bad_number, with the option.
    Status put_into(boost::json::object& request) const;
};

}  // namespace duewheel

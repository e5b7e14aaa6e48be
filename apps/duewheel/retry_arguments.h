// The parts of a retry rule on the command line: `--retry-attempts` and so on, for messages and queues.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/status.h"

namespace duewheel {

// A number as written, so that the server receives it exactly; an empty text is an error. Code: bad_number.
Status put_number_into(const std::string& text, const char* member, const char* option, boost::json::object& rule);

struct RetryArguments {
    std::optional<std::int64_t> attempts;
    std::string first;
    std::string factor;
    std::string most;
    std::string jitter;

    void add_to(CLI::App& verb);
    // Adds the member `retry` if a part was given. Code: bad_number, with the option.
    Status put_into(boost::json::object& request) const;
};

}  // namespace duewheel

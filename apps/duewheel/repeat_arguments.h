// The rule of a recurring message on the command line: `--every` and related options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/status.h"

namespace duewheel {

struct RepeatArguments {
    std::string every;
    std::optional<std::int64_t> times;
    std::string factor;
    std::string most;
    std::optional<std::string> until;

    void add_to(CLI::App& verb);
    // Adds the member `repeat` if an interval was given. `zone`: that of local times; none: this machine's. Codes:
    // bad_number, bad_instant, with the option.
    Status put_into(const std::optional<std::string>& zone, boost::json::object& request) const;
};

}  // namespace duewheel

// Identifies a message for a verb: by the id that its put printed, or by its queue and the key of its put.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "base/status.h"
#include "session.h"

namespace duewheel {

struct MessageArguments {
    std::string id;
    std::string queue;
    std::string key;

    void add_to(CLI::App& verb);
    // The path of its call. Code missing_argument if no message is given.
    Result<std::string> path(const Session& session) const;
};

}  // namespace duewheel

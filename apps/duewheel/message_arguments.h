// How a verb names one message: by the id that its put printed, or by its queue and the key that it was put with.
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
    // The path of its call. Code missing_argument where it names no message.
    Result<std::string> path(const Session& session) const;
};

}  // namespace duewheel

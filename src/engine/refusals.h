// Refusals that several kinds of commands share.
#pragma once

#include <string>
#include <utility>

#include <duewheel/status.h>

namespace duewheel {

// `what` goes on from "`field` is ": what it is, and what it may be.
inline Error out_of_range(std::string field, std::string what) {
    return {"out_of_range", "`" + field + "` is " + std::move(what), field};
}

}  // namespace duewheel

// Limits of the lines of an export. They are wider than those of a server for puts: the receiving server checks its own
// limits, which its operator may have raised.
#pragma once

#include "http_api/http_api.h"

namespace duewheel {

const HttpApiOptions& line_options();

}  // namespace duewheel

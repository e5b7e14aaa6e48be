// What an export's lines may hold at most. They are read more generously than any server reads a put: what the server
// that gets them allows is its own to say, and may have been raised by its operator.
#pragma once

#include "ingress/http_api.h"

namespace duewheel {

const HttpApiOptions& line_options();

}  // namespace duewheel

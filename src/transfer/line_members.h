// Members of several kinds of lines.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "http_api/fields/json_request.h"

namespace duewheel {

// The name of a namespace, a queue, a schedule or a watchdog; an absent one leaves `into` unchanged. Codes: those of
// such a name in a put.
Status read_name(const JsonRequest& line, std::string_view member, std::string& into);

// In the form of W3C Trace Context. Code: `bad_traceparent`.
Status read_traceparent(const JsonRequest& line, std::string& into);

}  // namespace duewheel

// Members that lines of more than one kind have.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "ingress/json_request.h"

namespace duewheel {

// Of a namespace, a queue, a schedule or a watchdog; one that is missing leaves `into` as it is. Codes: those of such a
// name in a put.
Status read_name(const JsonRequest& line, std::string_view member, std::string& into);

// As W3C Trace Context has it. Code: `bad_traceparent`.
Status read_traceparent(const JsonRequest& line, std::string& into);

}  // namespace duewheel

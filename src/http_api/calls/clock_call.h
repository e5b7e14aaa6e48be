// The calls about server time: /v1/clock shows it, `:accept` accepts a wall clock that was set far ahead, `:advance`
// moves a test clock. They are answered at once: nothing of them is written to the log.
#pragma once

#include "base/status.h"
#include "net/http/http_message.h"
#include "port/command_port.h"

namespace duewheel {

// Codes: those of JsonRequest; clock_not_held, not_a_test_clock, missing_member, conflicting_members, out_of_range.
Result<HttpResponse> answer_clock_call(const HttpRequest& request, CommandPort& port);

}  // namespace duewheel

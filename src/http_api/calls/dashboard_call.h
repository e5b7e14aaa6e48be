// The calls that the pages of the dashboard show as pictures: the lateness of the last hour, and the timing wheel.
#pragma once

#include <string>

#include "base/status.h"
#include "net/http/http_message.h"
#include "port/command_port.h"
#include "port/lateness_history.h"

namespace duewheel {

struct HttpApiOptions;

// Codes: those of QueryRequest; bad_duration, out_of_range, bad_queue_name, bad_namespace.
Result<HttpResponse> answer_lateness_call(const HttpRequest& request, const CommandPort& port,
                                          const HttpApiOptions& options);
// The row as a JSON object.
std::string lateness_row_text(const LatenessHistory::Row& row);

std::string wheel_text(const WheelView& wheel);

}  // namespace duewheel

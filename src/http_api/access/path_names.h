// The names and the message id in the path of a call, decoded and checked.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "http_api/calls/call_path.h"
#include "http_api/http_api.h"
#include "message/message.h"

namespace duewheel {

// Codes: bad_path, and bad_namespace, bad_queue_name, bad_schedule_name or bad_watchdog_name.
Result<std::string> read_namespace(const CallPath& path, const HttpApiOptions& options);
Result<std::string> read_queue(const CallPath& path, const HttpApiOptions& options);
Result<std::string> read_schedule_name(const CallPath& path, const HttpApiOptions& options);
Result<std::string> read_watchdog_name(const CallPath& path, const HttpApiOptions& options);
// Codes: bad_path, bad_group.
Result<std::string> read_group(const CallPath& path);

// Codes: bad_path, bad_id.
Result<MessageId> read_message_id(const CallPath& path);

// Code bad_id.
Result<MessageId> parse_message_id(std::string_view text);

// The name, which is already decoded, or code bad_queue_name.
Result<std::string> check_queue_name(std::string name, const HttpApiOptions& options);

}  // namespace duewheel

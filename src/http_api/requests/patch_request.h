// A change of a message: of its due time alone, or of its content and other members too, as a merge patch.
#pragma once

#include <string>

#include "base/status.h"
#include "engine/commands/command.h"
#include "http_api/http_api.h"
#include "net/http/http_message.h"

namespace duewheel {

// `by_key`: instead of the id. `options` must outlive the command. Codes: those of JsonRequest, bad_base64,
// bad_content_type, bad_message_header, body_too_large, conflicting_members, duplicate_member, headers_too_large,
// missing_member, out_of_range, unknown_member, unsupported_media_type.
Result<Command> read_message_patch(const HttpRequest& request, const HttpApiOptions& options, std::string name_space,
                                   MessageId id, MessageKey by_key);

}  // namespace duewheel

// Writes replies of the engine as HTTP responses. Their forms are in docs/http_api.md.
#pragma once

#include <variant>
#include <vector>

#include "engine/commands/command.h"
#include "net/http/http_message.h"

namespace duewheel {

HttpResponse answer_text(const Reply& reply);
// The same, where the body of a large response is written by the thread of its connection.
HttpResponse late_answer_text(Reply reply);
// The problem document of a command that came too late (late_outcome.h), with the members of its reply.
HttpResponse late_refusal_text(const Error& refusal, const Reply& reply);

// The result of one part of a request with many: of a put, or of the end of a lease.
using PartAnswer = std::variant<Error, PutAnswer, LeaseEndAnswer>;
// Each with its status: for puts one JSON line each, otherwise an array of results.
HttpResponse batch_text(const std::vector<PartAnswer>& parts, bool of_puts);
// The same, with the body written by the thread of its connection.
HttpResponse late_batch_text(std::vector<PartAnswer> parts, bool of_puts);

}  // namespace duewheel

#include "ingress/retry_request.h"

#include "ingress/request_members.h"

namespace duewheel {

Status read_retry(const JsonRequest& request, RetryChoice& into) {
    reset_if_removed(request, "retry", into);
    const Result<std::optional<JsonRequest>> object = request.object("retry");
    if (!object) return object.error();
    if (!*object) return {};
    const JsonRequest& retry = **object;
    Status known = retry.only({"attempts", "first", "first_ms", "factor", "max", "max_ms", "jitter"});
    if (!known) return known;
    reset_if_removed(retry, "attempts", into.attempts);
    reset_if_time_removed(retry, "first", into.first_ms);
    reset_if_removed(retry, "factor", into.factor_permille);
    reset_if_time_removed(retry, "max", into.max_ms);
    reset_if_removed(retry, "jitter", into.jitter_permille);
    Status read = take(retry.integer("attempts"), into.attempts);
    if (read) read = take(retry.duration_ms("first"), into.first_ms);
    if (read) read = take(retry.thousandths("factor"), into.factor_permille);
    if (read) read = take(retry.duration_ms("max"), into.max_ms);
    if (read) read = take(retry.thousandths("jitter"), into.jitter_permille);
    return read;
}

}  // namespace duewheel

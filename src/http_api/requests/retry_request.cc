#include "http_api/requests/retry_request.h"

#include "http_api/fields/field_reader.h"
#include "http_api/fields/request_members.h"
#include "resource/retry_fields.h"

namespace duewheel {

Status read_retry(const JsonRequest& request, RetryChoice& into) {
    reset_if_removed(request, "retry", into);
    const Result<std::optional<JsonRequest>> retry = request.object("retry");
    if (!retry) return retry.error();
    return *retry ? read_fields(**retry, fields_of<RetryChoice>(), &into, "retry.") : Status();
}

}  // namespace duewheel

#include "transfer/line_members.h"

#include <optional>
#include <utility>

#include "base/error_codes.h"
#include "http_api/access/path_names.h"
#include "http_api/fields/field_syntax.h"
#include "http_api/fields/request_members.h"
#include "transfer/line_options.h"

namespace duewheel {

Status read_name(const JsonRequest& line, std::string_view member, std::string& into) {
    const Result<std::optional<std::string_view>> text = line.text(member);
    if (!text) return text.error();
    if (!*text) return {};
    Result<std::string> name = check_queue_name(std::string(**text), line_options());
    if (!name) {
        Error error = std::move(name).error();
        error.field = member;
        return error;
    }
    into = *std::move(name);
    return {};
}

Status read_traceparent(const JsonRequest& line, std::string& into) {
    if (Status read = assign(line.text("traceparent"), into); !read) return read;
    if (into.empty() || is_traceparent(into)) return {};
    return Error{"bad_traceparent"_code, "`traceparent` must be valid W3C Trace Context", "traceparent"};
}

}  // namespace duewheel

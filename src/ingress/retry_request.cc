#include "ingress/retry_request.h"

#include "ingress/request_members.h"
#include "ingress/rule_field.h"

namespace duewheel {

Result<RetryChoice> read_retry(const JsonRequest& request) {
    RetryChoice choice;
    const Result<std::optional<JsonRequest>> object = request.object("retry");
    if (!object) return object.error();
    if (!*object) return choice;
    const JsonRequest& retry = **object;
    Status read = retry.only({"attempts", "first", "first_ms", "factor", "most", "most_ms", "jitter"});
    if (read) read = take(retry.integer("attempts"), choice.attempts);
    if (read) read = take(retry.duration_ms("first"), choice.first_ms);
    if (read) read = take(retry.thousandths("factor"), choice.factor_permille);
    if (read) read = take(retry.duration_ms("most"), choice.most_ms);
    if (read) read = take(retry.thousandths("jitter"), choice.jitter_permille);
    if (!read) return std::move(read).error();
    return choice;
}

Result<RetryChoice> read_retry_field(std::string_view text, std::string_view field_name) {
    using Kind = RuleMember::Kind;
    RetryChoice choice;
    const RuleMember members[] = {{"attempts", Kind::whole, &choice.attempts},
                                  {"first", Kind::duration, &choice.first_ms},
                                  {"factor", Kind::thousandths, &choice.factor_permille},
                                  {"most", Kind::duration, &choice.most_ms},
                                  {"jitter", Kind::thousandths, &choice.jitter_permille}};
    if (Status read = read_rule_field(text, field_name, members); !read) return std::move(read).error();
    return choice;
}

}  // namespace duewheel

#include "ingress/transaction_request.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "ingress/path_names.h"
#include "ingress/request_members.h"

namespace duewheel {

Result<std::optional<TransactionRule>> read_transaction(const JsonRequest& request, const HttpApiOptions& options) {
    const Result<std::optional<JsonRequest>> object = request.object("transaction");
    if (!object) return object.error();
    if (!*object) return std::optional<TransactionRule>();
    const JsonRequest& transaction = **object;
    std::optional<std::string_view> queue, otherwise;
    std::optional<std::int64_t> after_ms, times;
    Status read = transaction.only({"check_back", "otherwise"});
    if (read) read = take(transaction.text("otherwise"), otherwise);
    if (!read) return std::move(read).error();
    const Result<std::optional<JsonRequest>> check = transaction.object("check_back");
    if (!check) return check.error();
    if (*check) {
        read = (*check)->only({"queue", "after", "after_ms", "times"});
        if (read) read = take((*check)->text("queue"), queue);
        if (read) read = take((*check)->duration_ms("after"), after_ms);
        if (read) read = take((*check)->integer("times"), times);
        if (!read) return std::move(read).error();
    }
    TransactionRule rule;
    if (!after_ms) {
        return Error{"missing_member",
                     "give the time to wait for a commit or rollback before the first check, such as 1m",
                     "transaction.check_back.after"};
    }
    rule.check_after_ms = *after_ms;
    if (queue) {
        Result<std::string> name = check_queue_name(std::string(*queue), options);
        if (!name) return Error{name.error().code, name.error().message, "transaction.check_back.queue"};
        rule.check_queue = *std::move(name);
        rule.check_times = kCheckTimes;
    }
    if (times) {  // a number that does not fit the type, or 0, is out of range: the engine reports it
        constexpr std::int64_t kMax = std::numeric_limits<std::uint32_t>::max();
        rule.check_times = static_cast<std::uint32_t>(*times < 1 ? kMax : std::min(*times, kMax));
    }
    if (otherwise && *otherwise != "rollback" && *otherwise != "commit") {
        return Error{"bad_policy",
                     "`otherwise`, the outcome without a response, must be rollback (the default) or commit",
                     "transaction.otherwise"};
    }
    rule.otherwise_commit = otherwise == "commit";
    return std::optional(std::move(rule));
}

}  // namespace duewheel

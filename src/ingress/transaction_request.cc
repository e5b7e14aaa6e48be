#include "ingress/transaction_request.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "ingress/request_command.h"
#include "ingress/request_members.h"
#include "ingress/rule_field.h"
#include "net/http_target.h"

namespace duewheel {
namespace {

struct Said {
    std::optional<std::string_view> queue;
    std::optional<std::int64_t> after_ms;
    std::optional<std::int64_t> times;
    std::optional<std::string_view> otherwise;
};

// What errors call the members: the field for all of them, where there is one.
struct Names {
    std::string queue;
    std::string after;
    std::string otherwise;
};

Result<TransactionRule> chosen(const Said& said, const Names& names, const HttpApiOptions& options) {
    TransactionRule rule;
    if (!said.after_ms) {
        return Error{"missing_member",
                     "say how long the message waits for a commit or a rollback, such as 1m, before its producer is "
                     "asked",
                     names.after};
    }
    rule.check_after_ms = *said.after_ms;
    if (said.queue) {
        Result<std::string> queue = check_queue_name(std::string(*said.queue), options);
        if (!queue) return Error{queue.error().code, queue.error().message, names.queue};
        rule.check_queue = *std::move(queue);
        rule.check_times = kCheckTimes;
    }
    if (said.times) {  // what the type cannot hold, and none at all, is out of range, as the engine says
        constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
        rule.check_times = static_cast<std::uint32_t>(*said.times < 1 ? kMost : std::min(*said.times, kMost));
    }
    const std::string_view otherwise = said.otherwise.value_or("rollback");
    if (otherwise != "rollback" && otherwise != "commit") {
        return Error{"bad_policy",
                     "what becomes of a message that nobody settles is rollback, which is the default, or commit",
                     names.otherwise};
    }
    rule.otherwise_commit = otherwise == "commit";
    return rule;
}

}  // namespace

Result<std::optional<TransactionRule>> read_transaction(const JsonRequest& request, const HttpApiOptions& options) {
    const Result<std::optional<JsonRequest>> object = request.object("transaction");
    if (!object) return object.error();
    if (!*object) return std::optional<TransactionRule>();
    const JsonRequest& transaction = **object;
    Said said;
    Status read = transaction.only({"check_back", "otherwise"});
    if (read) read = take(transaction.text("otherwise"), said.otherwise);
    if (!read) return std::move(read).error();
    const Result<std::optional<JsonRequest>> check = transaction.object("check_back");
    if (!check) return check.error();
    if (*check) {
        read = (*check)->only({"queue", "after", "after_ms", "times"});
        if (read) read = take((*check)->text("queue"), said.queue);
        if (read) read = take((*check)->duration_ms("after"), said.after_ms);
        if (read) read = take((*check)->integer("times"), said.times);
        if (!read) return std::move(read).error();
    }
    const Names names{"transaction.check_back.queue", "transaction.check_back.after", "transaction.otherwise"};
    Result<TransactionRule> rule = chosen(said, names, options);
    if (!rule) return std::move(rule).error();
    return std::optional(*std::move(rule));
}

Result<TransactionRule> read_transaction_field(std::string_view text, std::string_view field_name,
                                               const HttpApiOptions& options) {
    using Kind = RuleMember::Kind;
    Said said;
    const RuleMember members[] = {{"queue", Kind::word, nullptr, &said.queue},
                                  {"after", Kind::duration, &said.after_ms},
                                  {"times", Kind::whole, &said.times},
                                  {"otherwise", Kind::word, nullptr, &said.otherwise}};
    if (Status read = read_rule_field(text, field_name, members); !read) return std::move(read).error();
    // A header field is ASCII, so that other letters of a name come percent-encoded. What is not encoded well is no
    // name.
    const Result<std::string> queue = percent_decode(said.queue.value_or(""));
    if (said.queue && queue) said.queue = *queue;
    const std::string name(field_name);
    return chosen(said, {name, name, name}, options);
}

}  // namespace duewheel

#include "resource/transaction_fields.h"

#include "base/error_codes.h"

namespace duewheel {
namespace {

constexpr std::string_view kOutcomes[] = {"rollback", "commit"};

// Ranges are checked by the engine.
constexpr Field kTransactionRows[] = {
    text<&TransactionRule::check_queue>(
        0, "check_back.queue",
        "Queue for check messages, which ask for the outcome when that time is over; without it, none are sent",
        {.page = "the queue of the check messages, in the same namespace. By default there are no checks: `otherwise` "
                 "applies after `after`",
         .schema = R"({"$ref": "#/components/schemas/Name"})",
         .option = "--check-queue QUEUE"}),
    duration<&TransactionRule::check_after_ms>(
        0, "check_back.after", "Time to respond with `commit` or `rollback`, before and after each check",
        {.page = "required: how long the message waits for commit or rollback before the first check, and after each",
         .when_absent = "give the time to wait for a commit or rollback before the first check, such as 1m",
         .is_required = true,
         .option = "--answer-in DURATION"}),
    count<&TransactionRule::check_times>(0, "check_back.times", "Number of check messages",
                                         {.page = "the number of checks, 1 to 1,000; 5 by default",
                                          .limit = "limits.check_times_max",
                                          .when_absent = "5",
                                          .schema = R"({"default": 5})",
                                          .option = "--check-times NUMBER"}),
    word<&TransactionRule::otherwise_commit>(
        0, "otherwise", "Outcome without a response: rollback (default) or commit", kOutcomes,
        {.page = "the outcome without a response: `rollback`, the default, or `commit`",
         .code = "bad_policy"_code,
         .option = "--otherwise WHAT"}),
};

}  // namespace

template <>
const FieldTable& fields_of<TransactionRule>() {
    static const FieldTable table("a transaction holds", kTransactionRows);
    return table;
}

}  // namespace duewheel

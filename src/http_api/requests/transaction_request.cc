#include "http_api/requests/transaction_request.h"

#include <string>
#include <utility>

#include "http_api/access/path_names.h"
#include "http_api/fields/field_reader.h"
#include "resource/transaction_fields.h"

namespace duewheel {

Result<std::optional<TransactionRule>> read_transaction(const JsonRequest& request, const HttpApiOptions& options) {
    const Result<std::optional<JsonRequest>> object = request.object("transaction");
    if (!object) return object.error();
    if (!*object) return std::optional<TransactionRule>();
    TransactionRule rule;
    Status read = read_fields(**object, fields_of<TransactionRule>(), &rule, "transaction.");
    if (!read) return std::move(read).error();
    const Result<std::optional<JsonRequest>> check = (*object)->object("check_back");
    if (!check) return check.error();
    if ((*check)->has("queue")) {
        const Result<std::string> name = check_queue_name(rule.check_queue, options);
        if (!name) return Error{name.error().code, name.error().message, "transaction.check_back.queue"};
        if (rule.check_times == 0) rule.check_times = kCheckTimes;
    }
    return std::optional(std::move(rule));
}

}  // namespace duewheel

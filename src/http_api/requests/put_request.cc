#include "http_api/requests/put_request.h"

#include <optional>
#include <utility>

#include "base/error_codes.h"
#include "http_api/fields/content_members.h"
#include "http_api/fields/field_reader.h"
#include "http_api/fields/field_syntax.h"
#include "http_api/fields/json_request.h"
#include "http_api/fields/put_fields.h"
#include "http_api/fields/put_rows.h"
#include "http_api/fields/request_members.h"
#include "http_api/fields/work_members.h"
#include "http_api/requests/idempotency_key.h"
#include "http_api/requests/put_hash.h"
#include "http_api/requests/raw_put.h"
#include "http_api/requests/transaction_request.h"
#include "message/records/request_hash.h"

namespace duewheel {
namespace {

// An import restores the history of a message of its own, which is delivered itself.
Status read_history(const JsonRequest& json, PutCommand& put) {
    if (!json.has("imported")) return {};
    if (put.repeat || put.transaction || put.on_key == OnKey::replace) {
        return Error{"conflicting_members"_code,
                     "a message with a history on another server is new, and neither recurring nor prepared: omit "
                     "`imported`, or omit `repeat`, `transaction` and `on_key`, \"replace\"",
                     "imported"};
    }
    WorkHistory history;
    if (Status read = read_imported(json, history); !read) return read;
    put.imported.set(std::move(history));
    return {};
}

// What a put says about a message with its key.
Status check_on_key(const JsonRequest& json, const PutCommand& put) {
    if (json.has("on_key") && put.key.empty()) {
        return Error{"missing_member"_code,
                     "`on_key` says what happens if the queue has a message with the `key`: give `key`, or omit "
                     "`on_key`",
                     "key"};
    }
    const bool replaces = put.on_key == OnKey::replace;
    if (json.has_time("within") && !replaces) {
        return Error{"conflicting_members"_code,
                     "`within` limits how long puts that replace each other postpone a message: give `on_key`, "
                     "\"replace\", or omit `within`",
                     "within"};
    }
    if (put.within_ms > kWithinMaxMs) {
        return Error{"out_of_range"_code, "`within` must be at most 365d", "within"};
    }
    if (replaces && (put.repeat || put.transaction)) {
        const std::string member = put.repeat ? "repeat" : "transaction";
        return Error{"conflicting_members"_code,
                     "a put that replaces a message cannot have `" + member +
                         "`: give `on_key`, \"keep\", or cancel the message and put another one",
                     member};
    }
    return {};
}

Result<Command> read_json_request(const HttpRequest& request, const PutFields& fields, const HttpApiOptions& options,
                                  PutCommand put) {
    if (fields.delay || fields.due) {
        return Error{"conflicting_members"_code,
                     "Duewheel-Delay and Duewheel-Due require a raw body: in JSON give the member `delay` or `due`",
                     fields.delay ? "Duewheel-Delay" : "Duewheel-Due"};
    }
    if (fields.key) {
        if (Status read = read_key(*fields.key, "Idempotency-Key", options, put.key); !read) {
            return std::move(read).error();
        }
    }
    Result<PutCommand> read = read_json_put(request.body, options, std::move(put));
    if (!read) return std::move(read).error();
    return Command(*std::move(read));
}

}  // namespace

Status read_expiry(const JsonRequest& request, std::optional<When>& into) {
    if (request.has_time("expires_in") && request.has_time("expires")) {
        return Error{"conflicting_members"_code, "give `expires_in` or `expires`, not both", "expires"};
    }
    if (!request.has_time("expires_in") && !request.has_time("expires")) return {};
    When& expires = into.emplace();
    if (Status read = assign(request.duration_ms("expires_in"), expires.delay_ms); !read) return read;
    return assign(request.instant_ms("expires"), expires.at_ms);
}

Result<PutCommand> read_json_put(std::string_view text, const HttpApiOptions& options, PutCommand put,
                                 std::size_t line) {
    const Result<JsonRequest> json = JsonRequest::parse(text, line);
    if (!json) return json.error();
    Status read = read_fields(*json, fields_of<PutCommand>(), &put);
    if (read) read = read_when(*json, options, put.when);
    if (read) read = read_expiry(*json, put.expires);
    if (read) {
        Result<std::optional<TransactionRule>> transaction = read_transaction(*json, options);
        if (!transaction) return std::move(transaction).error();
        put.transaction = *std::move(transaction);
    }
    if (read && put.is_held && put.transaction) {
        read = Error{"conflicting_members"_code,
                     "a message in a transaction is delivered to no consumer until it is committed: omit `held` and "
                     "hold it then, or omit `transaction`",
                     "held"};
    }
    if (read) read = read_key_member(*json, options, put.key);
    if (read) read = read_content_members(*json, options, put);
    if (read && !has_body(*json)) {
        read = Error{"missing_member"_code,
                     "the content is missing: give `body`, a string, `json`, any JSON, or `body_base64`, other bytes; "
                     "an empty message has `\"body\": \"\"`",
                     "body"};
    }
    if (read) read = check_on_key(*json, put);
    if (read) read = read_history(*json, put);
    if (!read) return std::move(read).error();
    if (!put.key.empty()) {
        put.request_hash = hash_put(put, put.when);
        put.text_hash = hash_request(text);
    }
    return put;
}

Result<Command> read_put(const HttpRequest& request, bool is_raw, std::string name_space, std::string queue,
                         const HttpApiOptions& options) {
    const Result<PutFields> fields = PutFields::read(request);
    if (!fields) return fields.error();
    PutCommand put;
    put.name_space = std::move(name_space);
    put.queue = std::move(queue);
    put.traceparent = traceparent_of(request);
    return is_raw ? read_raw_put(request, *fields, options, std::move(put))
                  : read_json_request(request, *fields, options, std::move(put));
}

}  // namespace duewheel

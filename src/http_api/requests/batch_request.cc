#include "http_api/requests/batch_request.h"

#include <algorithm>
#include <utility>

#include "base/error_codes.h"
#include "http_api/access/path_names.h"
#include "http_api/answers/lease_text.h"
#include "http_api/fields/field_syntax.h"
#include "http_api/fields/json_request.h"
#include "http_api/fields/json_text.h"
#include "http_api/fields/request_members.h"
#include "http_api/requests/lease_end_request.h"
#include "http_api/requests/put_request.h"

namespace duewheel {
namespace {

Error batch_too_large(const HttpApiOptions& options) {
    return {"batch_too_large"_code, "one request has up to " + std::to_string(options.batch_max) +
                                        " parts: send the others in another request; nothing of this request was done"};
}

bool is_ndjson(const HttpRequest& request) {
    const std::string_view type = essence(request.header("Content-Type").value_or(""));
    return equal_ignoring_case(type, "application/x-ndjson") || equal_ignoring_case(type, "application/jsonl");
}

// Header fields for one message have no meaning for many.
Status refuse_put_fields(const HttpRequest& request) {
    for (const HttpField& field : request.fields) {
        const bool of_one = equal_ignoring_case(field.name, "Idempotency-Key") ||
                            equal_ignoring_case(field.name.substr(0, 9), "Duewheel-") ||
                            equal_ignoring_case(field.name.substr(0, 11), "X-Duewheel-");
        if (!of_one) continue;
        const std::string name(field.name.substr(0, 64));
        return Error{"unknown_member"_code, name + " is not allowed in a batch: give it as a member of each line",
                     name};
    }
    return {};
}

// Each line is a put; the end of the last one may be omitted. A carriage return before the end belongs to the end: it
// is not part of the request that a key identifies.
std::vector<std::string_view> lines_of(std::string_view body) {
    std::vector<std::string_view> lines;
    while (!body.empty()) {
        const std::size_t end = std::min(body.find('\n'), body.size());
        std::string_view line = body.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        lines.push_back(line);
        body.remove_prefix(std::min(end + 1, body.size()));
    }
    return lines;
}

// `number`: the line's, from 1.
Result<PutCommand> read_line(std::string_view line, std::size_t number, const HttpApiOptions& options, PutCommand put) {
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
        return Error{"bad_json"_code,
                     "line " + std::to_string(number) + " is empty: each line must be one message as a JSON object"};
    }
    return read_json_put(line, options, std::move(put), number);
}

Result<BatchRequest> read_puts(const HttpRequest& request, const CallPath& path, const HttpApiOptions& options) {
    if (!is_ndjson(request)) {
        return Error{"unsupported_media_type"_code,
                     "this call takes one JSON object per line: send Content-Type: application/x-ndjson",
                     "Content-Type"};
    }
    if (Status fine = refuse_put_fields(request); !fine) return std::move(fine).error();
    PutCommand common;
    Result<std::string> name_space = read_namespace(path, options);
    if (!name_space) return std::move(name_space).error();
    Result<std::string> queue = read_queue(path, options);
    if (!queue) return std::move(queue).error();
    common.name_space = *std::move(name_space);
    common.queue = *std::move(queue);
    common.traceparent = traceparent_of(request);

    const std::vector<std::string_view> lines = lines_of(request.body);
    if (lines.size() > options.batch_max) return batch_too_large(options);
    BatchRequest batch;
    PutBatchCommand command;
    command.puts.reserve(lines.size());
    for (const std::string_view line : lines) {
        Result<PutCommand> put = read_line(line, batch.refused.size() + 1, options, common);
        batch.refused.push_back(put ? std::nullopt : std::optional(std::move(put).error()));
        if (put) command.puts.push_back(*std::move(put));
    }
    if (!command.puts.empty()) batch.command = std::move(command);
    return batch;
}

std::vector<std::string_view> members_with(CallPath::What what, std::string_view one_more) {
    const std::span<const std::string_view> others = lease_end_members(what);
    std::vector<std::string_view> known(others.begin(), others.end());
    known.push_back(one_more);
    return known;
}

// The elements of `leases`, as written: strings and objects.
Result<std::vector<std::string_view>> lease_texts(const JsonRequest& json) {
    const std::optional<std::string_view> list = json.json_text("leases");
    if (!list || !list->starts_with('[')) return json.text_list("leases");  // says what is wrong
    std::vector<std::string_view> texts = element_texts(*list);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (texts[i].starts_with('"') || texts[i].starts_with('{')) continue;
        const std::string name = "leases[" + std::to_string(i) + "]";
        return Error{"wrong_type"_code, "`" + name + "` must be a token, or an object with `token`", name};
    }
    return texts;
}

// `field`: the member that has the text; empty if it is the lease itself.
Result<LeaseToken> token_of(std::string_view text, std::string_view field) {
    if (const std::optional<LeaseToken> token = parse_lease_text(text)) return *token;
    return Error{"bad_lease_token"_code,
                 "this is not a lease token: use the string from the response to the lease call", std::string(field)};
}

// `common`: what the request says of all leases.
Result<BatchRequest::Lease> read_lease(std::string_view text, CallPath::What what, const Command& common) {
    if (text.starts_with('"')) {
        const Result<LeaseToken> token = token_of(text.substr(1, text.size() - 2), "");
        if (!token) return token.error();
        return BatchRequest::Lease{*token, nullptr};
    }
    const Result<JsonRequest> json = JsonRequest::parse(text);
    if (!json) return json.error();
    if (Status fine = json->only(members_with(what, "token")); !fine) return std::move(fine).error();
    const Result<std::optional<std::string_view>> given = json->text("token");
    if (!given) return given.error();
    if (!*given) return Error{"missing_member"_code, "`token` is missing: give the lease token", "token"};
    const Result<LeaseToken> token = token_of(**given, "token");
    if (!token) return token.error();
    Result<Command> command = read_lease_end(*json, what, &common);
    if (!command) return std::move(command).error();
    return BatchRequest::Lease{*token, std::make_unique<Command>(*std::move(command))};
}

Result<BatchRequest> read_lease_ends(const HttpRequest& request, const CallPath& path, const HttpApiOptions& options) {
    // A token identifies its message alone, but the namespace in the path must still be valid.
    if (const Result<std::string> name_space = read_namespace(path, options); !name_space) return name_space.error();
    if (!request.body.empty() && !is_json(request)) {
        return Error{"unsupported_media_type"_code, "this call takes JSON: send Content-Type: application/json",
                     "Content-Type"};
    }
    const Result<JsonRequest> json = JsonRequest::parse(request.body);
    if (!json) return json.error();
    if (Status fine = json->only(members_with(path.what, "leases")); !fine) return std::move(fine).error();
    const Result<std::vector<std::string_view>> leases = lease_texts(*json);
    if (!leases) return leases.error();
    if (leases->size() > options.batch_max) return batch_too_large(options);
    Result<Command> command = read_lease_end(*json, path.what);
    if (!command) return std::move(command).error();
    BatchRequest batch;
    batch.leases.reserve(leases->size());
    batch.refused.reserve(leases->size());
    for (const std::string_view text : *leases) {
        Result<BatchRequest::Lease> lease = read_lease(text, path.what, *command);
        batch.refused.emplace_back();
        if (lease) {
            batch.leases.push_back(*std::move(lease));
            continue;
        }
        Error error = std::move(lease).error();
        error.field =
            "leases[" + std::to_string(batch.refused.size() - 1) + "]" + (error.field.empty() ? "" : ".") + error.field;
        batch.refused.back() = std::move(error);
    }
    if (!batch.leases.empty()) batch.command = *std::move(command);
    return batch;
}

}  // namespace

bool is_batch(CallPath::What what) {
    using What = CallPath::What;
    return what == What::put_batch || what == What::ack_batch || what == What::fail_batch ||
           what == What::extend_batch || what == What::release_batch;
}

Result<BatchRequest> read_batch(const HttpRequest& request, const CallPath& path, const HttpApiOptions& options) {
    if (!request.query.empty()) {
        return Error{"unknown_parameter"_code, "this call takes no query parameters: send a body"};
    }
    return path.what == CallPath::What::put_batch ? read_puts(request, path, options)
                                                  : read_lease_ends(request, path, options);
}

}  // namespace duewheel

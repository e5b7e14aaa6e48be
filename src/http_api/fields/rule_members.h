// Members of schedules and watchdogs: the queue and the content of their messages. The rule contains the previous
// values, which are empty unless a patch keeps absent members.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/error_codes.h"
#include "base/status.h"
#include "engine/commands/command.h"
#include "http_api/access/path_names.h"
#include "http_api/fields/field_syntax.h"
#include "http_api/fields/json_request.h"
#include "http_api/fields/request_members.h"
#include "http_api/http_api.h"
#include "message/message_template.h"
#include "message/records/content.h"
#include "message/records/request_hash.h"
#include "net/http/http_message.h"

namespace duewheel {

// The member `queue`. Codes: missing_member, bad_queue_name.
inline Status read_rule_queue(const JsonRequest& json, const HttpApiOptions& options, std::string& into) {
    reset_if_removed(json, "queue", into);
    if (Status read = assign(json.text("queue"), into); !read) return read;
    if (into.empty() && !json.has("queue")) {
        return Error{"missing_member"_code, "`queue` is missing: name the queue of the messages", "queue"};
    }
    const Result<std::string> name = check_queue_name(into, options);
    return name ? Status() : Status(name.error());
}

// What read_content_members() changes.
inline PutCommand content_to_change(const MessageTemplate& rule, const MessageContent& content) {
    PutCommand put;
    put.order_key = rule.order_key;
    put.group = rule.group;
    put.priority = rule.priority;
    put.retry = rule.retry;
    copy_content(content, put);
    return put;
}

inline void set_content(MessageTemplate& rule, const PutCommand& put) {
    rule.order_key = put.order_key;
    rule.group = put.group;
    rule.priority = put.priority;
    rule.retry = put.retry;
    rule.content_hash = hash_request(put.content_type, hash_request(put.headers, hash_request(put.body)));
}

// A put of a rule, with these members. `changed(json, rule, content)` returns the command that puts a rule: the one
// that the members change, which is empty for a put.
template <class Rule, class Changed>
Result<Command> read_put_rule(const HttpRequest& request, std::span<const std::string_view> known,
                              std::string name_space, std::string name, Changed changed) {
    const Result<JsonRequest> json = read_members(request, known);
    if (!json) return json.error();
    auto put = changed(*json, Rule(), MessageContent());
    if (!put) return std::move(put).error();
    put->name_space = std::move(name_space);
    put->name = std::move(name);
    put->traceparent = traceparent_of(request);
    return Command(*std::move(put));
}

// A patch of a rule, which is applied when the command is executed.
template <class Rule, class PatchCommand, class Changed>
Result<Command> read_patch_rule(const HttpRequest& request, std::span<const std::string_view> known,
                                std::string name_space, std::string name, Changed changed) {
    const Result<std::shared_ptr<const MergePatch>> patch = read_patch(request, known);
    if (!patch) return patch.error();
    const auto change = [patch = *patch, changed, trace = std::string(traceparent_of(request))](
                            const Rule& rule, const MessageContent& content) {
        auto put = changed(patch->json, rule, content);
        if (put && !trace.empty()) put->traceparent = trace;
        return put;
    };
    return Command(PatchCommand{std::move(name_space), std::move(name), change, request.body.size()});
}

}  // namespace duewheel

// Members of schedules and watchdogs: the queue and the content of their messages. The rule contains the previous
// values, which are empty unless a patch keeps absent members.
#pragma once

#include <string>

#include "base/status.h"
#include "engine/command.h"
#include "ingress/http_api.h"
#include "ingress/json_request.h"
#include "ingress/path_names.h"
#include "ingress/request_members.h"
#include "message/content.h"
#include "message/message_template.h"
#include "message/request_hash.h"

namespace duewheel {

// The member `queue`. Codes: missing_member, bad_queue_name.
inline Status read_rule_queue(const JsonRequest& json, const HttpApiOptions& options, std::string& into) {
    reset_if_removed(json, "queue", into);
    if (Status read = take(json.text("queue"), into); !read) return read;
    if (into.empty() && !json.has("queue")) {
        return Error{"missing_member", "`queue` is missing: name the queue of the messages", "queue"};
    }
    const Result<std::string> name = check_queue_name(into, options);
    return name ? Status() : Status(name.error());
}

// What read_content_members() changes.
inline PutCommand content_to_change(const MessageTemplate& rule, const MessageContent& content) {
    PutCommand put;
    put.order_key = rule.order_key;
    put.priority = rule.priority;
    put.retry = rule.retry;
    copy_content(content, put);
    return put;
}

inline void set_content(MessageTemplate& rule, const PutCommand& put) {
    rule.order_key = put.order_key;
    rule.priority = put.priority;
    rule.retry = put.retry;
    rule.content_hash = hash_request(put.content_type, hash_request(put.headers, hash_request(put.body)));
}

}  // namespace duewheel

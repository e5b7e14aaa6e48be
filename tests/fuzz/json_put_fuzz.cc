// The JSON of a put: an accepted one has the same values in a parser that builds a tree, and the same after it is
// written again.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include <boost/json.hpp>

#include "base/base64.h"
#include "base/error_codes.h"
#include "base/json_writer.h"
#include "calendar/duration.h"
#include "calendar/instant_text.h"
#include "fuzz/fuzz_target.h"
#include "http_api/problem.h"
#include "http_api/requests/message_headers.h"
#include "http_api/requests/put_request.h"

namespace duewheel::json_put_fuzz {
namespace {

namespace json = boost::json;

std::optional<json::value> tree_of(std::string_view text) {
    json::error_code code;
    json::value tree = json::parse({text.data(), text.size()}, code);
    return code ? std::nullopt : std::optional(std::move(tree));
}

std::string_view text_of(const json::value& value) {
    return {value.get_string().data(), value.get_string().size()};
}

// The member of that name, or the one of the same name in milliseconds.
const json::value* time_of(const json::object& tree, std::string_view name) {
    const std::string name_ms = std::string(name) + "_ms";
    const json::value* text = tree.if_contains({name.data(), name.size()});
    const json::value* number = tree.if_contains(name_ms);
    require(text == nullptr || number == nullptr, "two times were taken for one");
    require(text == nullptr || text->is_string(), "a number without a unit was taken");
    require(number == nullptr || number->is_number(), "milliseconds were taken from a text");
    return text != nullptr ? text : number;
}

// What a member says as a time, where it is one: a number of milliseconds, or a text.
void judge_time(const json::value& member, bool is_instant, std::int64_t taken) {
    if (member.is_string()) {
        const Result<std::int64_t> parsed =
            is_instant ? parse_instant(text_of(member)) : parse_duration(text_of(member));
        require(parsed.ok() && *parsed == taken, "a time was taken as another");
    } else if (member.is_int64()) {
        require(member.get_int64() == taken, "milliseconds were taken as others");
    }
}

void judge_when(const json::object& tree, const When& when, std::string_view delay_name, std::string_view at_name) {
    const json::value* delay = time_of(tree, delay_name);
    const json::value* at = time_of(tree, at_name);
    require(delay == nullptr || at == nullptr, "two times were taken for one");
    require((at != nullptr) == when.at_ms.has_value(), "an instant came from nowhere or was lost");
    if (delay != nullptr) judge_time(*delay, false, when.delay_ms);
    if (at != nullptr) judge_time(*at, true, *when.at_ms);
}

void judge_text(const json::object& tree, const char* name, std::string_view taken) {
    const json::value* member = tree.if_contains(name);
    require(member == nullptr ? taken.empty() : member->is_string() && text_of(*member) == taken,
            "a text was taken as another:", name);
}

void judge_against_tree(const json::object& tree, const PutCommand& put) {
    constexpr std::string_view kMembers[] = {"body",    "body_base64", "delay",         "delay_ms", "due",
                                             "due_ms",  "expires_in",  "expires_in_ms", "expires",  "expires_ms",
                                             "headers", "order_key",   "content_type",  "priority", "key",
                                             "json",    "kafka"};
    for (const auto& member : tree) {
        const std::string_view name(member.key().data(), member.key().size());
        require(std::count(std::begin(kMembers), std::end(kMembers), name) == 1, "an unknown member was passed over");
    }
    judge_when(tree, put.when, "delay", "due");
    require(put.expires.has_value() == (time_of(tree, "expires_in") != nullptr || time_of(tree, "expires") != nullptr),
            "an expiry was lost");
    if (put.expires) judge_when(tree, *put.expires, "expires_in", "expires");
    judge_text(tree, "order_key", put.order_key);
    if (tree.contains("json") && !tree.contains("content_type")) {
        require(put.content_type == "application/json", "JSON has another type");
    } else {
        judge_text(tree, "content_type", put.content_type);
    }
    judge_text(tree, "key", put.key);
    if (tree.contains("json")) {
        const std::optional<json::value> content = tree_of(put.body);
        require(content && *content == tree.at("json"), "JSON is not what was sent");
    } else if (tree.contains("body_base64")) {
        require(base64(put.body) == text_of(tree.at("body_base64")), "a body is not what was sent");
    } else {
        judge_text(tree, "body", put.body);
    }
    const json::value* priority = tree.if_contains("priority");
    if (priority == nullptr) require(put.priority == 0, "a priority came from nowhere");
    if (priority != nullptr && priority->is_int64()) {
        require(priority->get_int64() == put.priority, "a priority is another");
    }
    if (tree.contains("kafka")) return;  // may give headers too; that it survives writing is checked
    const json::value* headers = tree.if_contains("headers");
    if (headers == nullptr || headers->get_object().empty()) {
        require(put.headers.empty(), "headers came from nowhere");
    } else {
        const std::optional<json::value> kept = tree_of(put.headers);
        require(kept && kept->is_object() && kept->get_object() == headers->get_object(), "headers are others");
    }
}

// A put that says the same, in the plainest words.
std::string written(const PutCommand& put) {
    json::object members;
    const auto add_when = [&](const When& when, const char* delay, const char* at) {
        if (when.at_ms) {
            members[at] = format_instant(*when.at_ms);
        } else {
            members[std::string(delay) + "_ms"] = when.delay_ms;
        }
    };
    add_when(put.when, "delay", "due");
    if (put.expires) add_when(*put.expires, "expires_in", "expires");
    members["priority"] = put.priority;
    members["body_base64"] = base64(put.body);
    std::string headers;
    JsonWriter writer(headers);
    writer.open();
    write_message_headers(writer, put.headers);
    writer.close();
    const std::optional<json::value> shown = tree_of(headers);
    require(shown.has_value(), "headers are not shown as JSON:", headers);
    for (const auto& member : shown->get_object()) members[member.key()] = member.value();
    for (const auto& [name, text] : {std::pair("order_key", &put.order_key), std::pair("key", &put.key),
                                     std::pair("content_type", &put.content_type)}) {
        if (!text->empty()) members[name] = *text;
    }
    return json::serialize(members);
}

bool say_the_same(const PutCommand& one, const PutCommand& other) {
    const auto same = [](const When& left, const When& right) {
        return left.at_ms == right.at_ms && left.delay_ms == right.delay_ms;
    };
    return same(one.when, other.when) && one.expires.has_value() == other.expires.has_value() &&
           (!one.expires || same(*one.expires, *other.expires)) && one.priority == other.priority &&
           one.order_key == other.order_key && one.body == other.body && one.content_type == other.content_type &&
           one.headers == other.headers && one.key == other.key;
}

}  // namespace

void fuzz(std::string_view input) {
    const HttpApiOptions options;
    const Result<PutCommand> put = read_json_put(input, options, {});
    const std::optional<json::value> tree = tree_of(input);
    if (!put) {
        require(is_for_clients(put.error().code), "a code is not listed:", name_of(put.error().code));
        const HttpResponse answer = problem(put.error());
        require(tree_of(answer.body).has_value(), "a refusal is no JSON:", answer.body);
        const ErrorCode code = put.error().code;
        const bool of_syntax = code == "bad_json"_code || code == "bad_utf8"_code || code == "too_deep"_code;
        require(!of_syntax || !tree, "JSON was called none");
        return;
    }
    if (input.empty()) return;
    require(tree && tree->is_object(), "what is no JSON object was taken");
    judge_against_tree(tree->get_object(), *put);
    const std::string again = written(*put);
    const Result<PutCommand> second = read_json_put(again, options, {});
    require(second.ok() && say_the_same(*put, *second), "a put is another after writing:", again);
}

}  // namespace duewheel::json_put_fuzz

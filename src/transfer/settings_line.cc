#include "transfer/settings_line.h"

#include <optional>
#include <vector>

#include <boost/json.hpp>

#include "base/enum_name.h"
#include "base/error_codes.h"
#include "calendar/instant_text.h"
#include "http_api/fields/field_syntax.h"
#include "http_api/fields/request_members.h"
#include "http_api/request_command.h"
#include "net/http/http_target.h"
#include "transfer/line_members.h"
#include "transfer/line_options.h"

namespace duewheel {
namespace {

namespace json = boost::json;
using Kind = SettingsLine::Kind;

constexpr std::string_view kNamespaceMembers[] = {"kind", "namespace", "settings"};
constexpr std::string_view kQueueMembers[] = {"kind",    "namespace", "queue", "secrets_excluded", "headers_excluded",
                                              "settings"};
constexpr std::string_view kGroupMembers[] = {"kind", "namespace", "queue", "group", "settings"};
constexpr std::string_view kScheduleMembers[] = {
    "kind", "namespace", "schedule",    "paused",       "next_ms",     "created_ms", "next_occurrence",
    "runs", "last_run",  "waiting_run", "last_skipped", "traceparent", "settings"};
constexpr std::string_view kWatchdogMembers[] = {"kind",        "namespace",   "watchdog", "created_ms", "due_ms",
                                                 "last_fed_ms", "feeds",       "fired",    "merged",     "overdue",
                                                 "last_fired",  "traceparent", "settings"};

// A response shows the content of a message, which may be nested as deep as a request.
constexpr json::parse_options kParseOptions = [] {
    json::parse_options options;
    options.max_depth = 2 * kJsonDepthMax;
    return options;
}();

std::span<const std::string_view> members_of(Kind kind) {
    switch (kind) {
        case Kind::name_space:
            return kNamespaceMembers;
        case Kind::queue:
            return kQueueMembers;
        case Kind::group:
            return kGroupMembers;
        case Kind::schedule:
            return kScheduleMembers;
        case Kind::watchdog:
            return kWatchdogMembers;
    }
    return {};
}

// The remaining times of a schedule, as a new rule.
Status go_on(const JsonRequest& line, SettingsLine& into, json::object& settings) {
    std::optional<std::int64_t> next_ms;
    std::int64_t next_occurrence = 1;
    bool is_paused = false;
    Status read = assign(line.epoch_ms("next_ms"), next_ms);
    if (read) read = assign(line.integer("next_occurrence"), next_occurrence);
    if (read) read = assign(line.boolean("paused"), is_paused);
    if (!read) return read;
    settings["paused"] = is_paused;
    into.is_paused = is_paused;
    into.next_ms = next_ms.value_or(0);
    into.has_ended = !next_ms;
    into.has_waiting_run = line.has("waiting_run");
    if (!next_ms) return {};
    if (json::value* times = settings.if_contains("times")) {
        json::error_code not_a_number;
        const auto all = times->to_number<std::int64_t>(not_a_number);
        if (!not_a_number && next_occurrence >= 1 && next_occurrence <= all) *times = all - (next_occurrence - 1);
    }
    // Without a start such a rule counts from the put.
    const bool is_every = settings.contains("every") || settings.contains("every_ms");
    const bool has_start = settings.contains("start") || settings.contains("start_ms");
    if (is_every && (next_occurrence > 1 || !has_start)) {
        settings.erase("start_ms");
        settings["start"] = format_instant(*next_ms);
    }
    return {};
}

Status read_queue(const JsonRequest& line, SettingsLine& into, json::object& settings) {
    std::int64_t secrets = 0;
    std::int64_t headers = 0;
    Status read = assign(line.integer("secrets_excluded"), secrets);
    if (read) read = assign(line.integer("headers_excluded"), headers);
    if (!read) return read;
    json::value* const limits = settings.if_contains("limits");
    if (limits != nullptr && limits->is_object()) {  // of an earlier version
        into.lacks_rate = limits->get_object().erase("per_second") != 0;
        if (into.lacks_rate && limits->get_object().empty()) settings.erase("limits");
    }
    into.lacks_secrets = secrets != 0 || headers != 0;
    // Otherwise posts would be sent unsigned, or without their authorization.
    if (into.lacks_secrets) settings["paused"] = true;
    return {};
}

// The checks of the PUT that do not depend on the server's state.
Status check_put(const SettingsLine& line) {
    const std::string path = line.path();
    HttpRequest request;
    request.method = "PUT";
    request.path = request.target = path;
    split_path(path, request.segments);
    request.fields = {{"Content-Type", "application/json"}};
    request.body = line.body;
    const std::optional<CallPath> call = find_call(request);
    if (!call) return Error{"unknown_path"_code, "no call can set this"};
    const Result<Command> command = read_command(request, *call, line_options());
    if (command) return {};
    Error error = command.error();
    if (!error.field.empty()) error.field = "settings." + error.field;
    return error;
}

}  // namespace

std::string_view kind_name(Kind kind) {
    return enum_name<Kind::watchdog>(kind, {"namespace", "queue", "group", "schedule", "watchdog"});
}

std::string SettingsLine::path() const {
    const std::string space = "/v1/namespaces/" + percent_encode(name_space);
    if (kind == Kind::name_space) return space;
    if (kind == Kind::group) return space + "/queues/" + percent_encode(queue) + "/groups/" + percent_encode(name);
    return space + "/" + std::string(kind_name(kind)) + "s/" + percent_encode(name);
}

Result<SettingsLine> read_settings_line(Kind kind, const JsonRequest& line, std::string_view text) {
    SettingsLine into;
    into.kind = kind;
    Status read = line.only(members_of(kind));
    if (read) read = read_name(line, "namespace", into.name_space);
    if (kind == Kind::group) {
        if (read) read = read_name(line, "queue", into.queue);
        if (read && into.queue.empty()) read = Error{"missing_member"_code, "`queue` is missing", "queue"};
        if (read) read = assign(line.text("group"), into.name);
    } else if (read && kind != Kind::name_space) {
        read = read_name(line, kind_name(kind), into.name);
    }
    if (kind == Kind::name_space) into.name = into.name_space;
    if (read && (kind == Kind::name_space ? !line.has("namespace") : into.name.empty())) {
        read = Error{"missing_member"_code, "`" + std::string(kind_name(kind)) + "` is missing",
                     std::string(kind_name(kind))};
    }
    if (read) {
        const Result<std::optional<JsonRequest>> object = line.object("settings");
        if (!object) {
            read = object.error();
        } else if (!*object) {
            read = Error{"missing_member"_code, "`settings` is missing", "settings"};
        }
    }
    if (read) read = read_traceparent(line, into.traceparent);
    if (!read) return std::move(read).error();
    json::error_code broken;
    const json::value tree = json::parse({text.data(), text.size()}, broken);
    if (broken) return Error{"bad_json"_code, "the line is not JSON: " + broken.message()};
    json::object settings = tree.at("settings").get_object();  // as was seen above
    if (settings.contains("json")) {                           // a tree would write its numbers in another way
        return Error{"unknown_member"_code, "`json` is not allowed in a line: write the content as `body`, a string",
                     "settings.json"};
    }
    if (kind == Kind::schedule) read = go_on(line, into, settings);
    if (kind == Kind::queue) read = read_queue(line, into, settings);
    if (kind == Kind::watchdog) read = assign(line.epoch_ms("due_ms"), into.next_ms);
    into.has_overdue = line.has("overdue");
    into.body = json::serialize(settings);
    if (read) read = check_put(into);
    if (!read) return std::move(read).error();
    return into;
}

namespace {

// A rule of `every` is exported with its next time as its start, and with the remaining times. An earlier start with
// more times, from an older export or from the rule itself, is equivalent if the difference has passed since, and the
// next time is no earlier than in the line. `there`: the response to a GET; `wanted`: the line's PUT.
bool goes_on_alike(const json::object& there, const json::object& wanted) {
    const json::object& settings = there.at("settings").get_object();
    const auto number = [](const json::object& of, const char* member) {
        const json::value* value = of.if_contains(member);
        return value != nullptr && value->is_int64() ? value->get_int64() : 0;
    };
    const auto start = [](const json::object& of) {
        const json::value* value = of.if_contains("start");
        const bool is_text = value != nullptr && value->is_string();
        const auto instant = is_text ? parse_instant(std::string(value->get_string())) : Result<InstantMs>(Error{});
        return instant ? std::optional(*instant) : std::nullopt;
    };
    const std::optional<InstantMs> begins = start(settings);
    const std::optional<InstantMs> goes_on = start(wanted);
    const std::int64_t every = number(settings, "every_ms");
    const std::int64_t next = number(there, "next_ms");
    if (!begins || !goes_on || every < 1 || every != number(wanted, "every_ms") || next < *goes_on) return false;
    if ((*goes_on - *begins) % every != 0 || (next - *goes_on) % every != 0) return false;
    if (!settings.contains("times") && !wanted.contains("times")) return true;
    // On days without a run the number of past runs is unknown here.
    if (settings.contains("closed")) return false;
    const std::int64_t left = number(settings, "times") - (number(there, "next_occurrence") - 1);
    return left == number(wanted, "times") - (next - *goes_on) / every;
}

}  // namespace

Standing standing_of(const SettingsLine& line, int status, std::string_view answer) {
    json::error_code broken;
    const json::value value = json::parse({answer.data(), answer.size()}, broken, {}, kParseOptions);
    if (status == 404 || broken || !value.is_object()) return Standing::absent;
    const json::value* shown = value.get_object().if_contains("settings");
    if (shown == nullptr || !shown->is_object()) return Standing::absent;
    json::object there = shown->get_object();
    const bool says_nothing = there.empty() || there == json::object{{"paused", false}};
    const bool may_say_nothing = line.kind <= Kind::group;
    const json::object wanted = json::parse(line.body).get_object();
    if (line.kind == Kind::schedule) {
        there["paused"] = value.get_object().at("paused");
        if (goes_on_alike(value.get_object(), wanted)) {
            there["start"] = wanted.at("start");
            if (wanted.contains("times")) there["times"] = wanted.at("times");
        }
    }
    // A line has as a string what a response shows as JSON.
    const json::value* const content = there.if_contains("json");
    const json::value* const body = wanted.if_contains("body");
    if (content != nullptr && body != nullptr && body->is_string()) {
        const json::value said = json::parse(body->get_string(), broken, {}, kParseOptions);
        if (!broken && said == *content) {
            there["body"] = *body;
            there.erase("json");
        }
    }
    if (there == wanted) return Standing::same;
    return may_say_nothing && says_nothing ? Standing::absent : Standing::other;
}

}  // namespace duewheel

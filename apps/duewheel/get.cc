// duewheel get: shows one message.
#include <cstdio>

#include "arguments.h"
#include "local_time.h"
#include "message_arguments.h"
#include "plain_json.h"
#include "plain_text.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct GetArguments {
    MessageArguments message;
};

namespace json = boost::json;

std::string shown(std::string_view member, const json::value& value) {
    if (value.is_string()) return printable({value.get_string().data(), value.get_string().size()});
    if (value.is_bool()) return value.get_bool() ? "yes" : "no";
    if (member == "expires_in_ms" && value.is_int64()) return format_span(value.get_int64());
    if (member.ends_with("_ms") && value.is_int64()) return format_when(value.get_int64());
    return printable(plain_json(value));
}

// "lease_until_ms" -> "lease until"
std::string label(std::string_view member) {
    std::string words = setting_name(member);
    for (char& c : words) c = c == '_' ? ' ' : c;
    return words;
}

// All members in the order of the response, with the body last, so that members of a newer server are shown too.
void print_message(const json::object& message) {
    Rows rows;
    for (const auto& [key, value] : message) {
        const std::string member(key.data(), key.size());
        if (member == "body" || member == "body_base64" || member == "json") continue;
        if (message.contains(member + "_ms")) continue;  // shown in local time, from its member in milliseconds
        if (member == "headers" && value.is_object()) {
            for (const auto& [name, content] : value.get_object()) {
                rows.push_back({"header", printable({name.data(), name.size()}) + "=" + shown("", content)});
            }
        } else {
            rows.push_back({label(member), shown(member, value)});
        }
    }
    if (message.contains("body_base64")) rows.push_back({"body", "not text, shown in base64:"});
    std::printf("%s", fields(rows).c_str());
    if (message.contains("body") || message.contains("json")) {
        const char* const member = message.contains("body") ? "body" : "json";
        std::printf("\n%s\n", printable_lines(word_of(message, member)).c_str());
    } else if (message.contains("body_base64")) {
        std::printf("\n%s\n", printable(word_of(message, "body_base64")).c_str());
    }
}

int get(Session& session, const GetArguments& arguments) {
    const Result<std::string> path = arguments.message.path(session);
    if (!path) return session.complain(path.error(), kExitUsage);
    const ServerAnswer answer = session.ask("GET", *path);
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] { print_message(answer.members); });
}

}  // namespace

void add_get(CLI::App& program, Session& session) {
    Verb<GetArguments> verb(
        program, session, "get", "Show a message",
        "ID=$(duewheel put mail 'Hello' --delay 1h --json | sed -E 's/.*\"id\":\"([0-9]+)\".*/\\1/')\n"
        "  duewheel get \"$ID\"",
        get);
    verb.options->message.add_to(*verb.app);
}

}  // namespace duewheel

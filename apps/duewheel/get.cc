// duewheel get: looks at one message.
#include <cstdio>

#include "arguments.h"
#include "local_time.h"
#include "plain_text.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct GetArguments {
    std::string id;
};

constexpr std::size_t kShownLettersMax = 2000;

std::string shown(std::string_view member, const boost::json::value& value) {
    if (value.is_string()) return printable({value.get_string().data(), value.get_string().size()}, kShownLettersMax);
    if (member.ends_with("_ms") && value.is_int64()) return format_when(value.get_int64());
    return printable(boost::json::serialize(value), kShownLettersMax);
}

// "lease_until_ms" -> "lease until"
std::string label(std::string_view member) {
    if (member.ends_with("_ms")) member.remove_suffix(3);
    std::string words(member);
    for (char& c : words) c = c == '_' ? ' ' : c;
    return words;
}

void print(const boost::json::object& message) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& pair : message) {
        const std::string_view member(pair.key().data(), pair.key().size());
        // Shown in local time instead, from its member in milliseconds.
        if (message.contains(std::string(member) + "_ms")) continue;
        rows.push_back({label(member), shown(member, pair.value())});
    }
    std::printf("%s", table(rows).c_str());
}

int get(Session& session, const GetArguments& arguments) {
    const ServerAnswer answer = session.ask("GET", session.path("messages", arguments.id));
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] { print(answer.members); });
}

}  // namespace

void add_get(CLI::App& program, Session& session) {
    Verb<GetArguments> verb(program, session, "get", "Look at a message", "duewheel get 1024 --json", get);
    verb.app->add_option("ID", verb.options->id, "The id that `put` printed")->required();
}

}  // namespace duewheel

// duewheel stats: counters of a server, and its busiest queues.
#include <algorithm>
#include <cstdio>

#include "arguments.h"
#include "local_time.h"
#include "plain_json.h"
#include "plain_text.h"
#include "terminal.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct StatsArguments {};

namespace json = boost::json;

bool is_instant(std::string_view member) {
    return member == "server_time_ms" || member == "oldest_due_ms";
}

std::string shown(std::string_view member, const json::value& value) {
    if (is_instant(member) && value.is_int64()) return format_local(value.get_int64());
    if (value.is_string()) return printable({value.get_string().data(), value.get_string().size()});
    if (value.is_bool()) return value.get_bool() ? "yes" : "no";
    return printable(plain_json(value));
}

std::string label(std::string_view member) {
    std::string words(member);
    if (is_instant(member)) words.resize(words.size() - std::string_view("_ms").size());
    for (char& c : words) c = c == '_' ? ' ' : c;
    return words;
}

// Members that are numbers or strings, as a list.
void print_levels(const json::object& stats) {
    Rows rows;
    for (const auto& pair : stats) {
        if (pair.value().is_structured()) continue;
        const std::string_view member(pair.key().data(), pair.key().size());
        rows.push_back({label(member), shown(member, pair.value())});
    }
    std::printf("%s", fields(rows).c_str());
}

// One row for each queue, one column for each member that any of them has.
void print_queues(const json::array& queues) {
    std::vector<std::string> members = {"queue"};
    for (const json::value& queue : queues) {
        if (!queue.is_object()) continue;
        for (const auto& pair : queue.get_object()) {
            const std::string member(pair.key().data(), pair.key().size());
            if (std::find(members.begin(), members.end(), member) == members.end()) members.push_back(member);
        }
    }
    // Shown only for queues outside the default namespace.
    if (const auto space = std::find(members.begin(), members.end(), "namespace"); space != members.end()) {
        std::rotate(members.begin(), space, space + 1);
    }
    Rows rows(1);
    for (const std::string& member : members) rows[0].push_back(label(member));
    for (const json::value& queue : queues) {
        if (!queue.is_object()) continue;
        std::vector<std::string>& row = rows.emplace_back();
        for (const std::string& member : members) {
            const json::value* value = queue.get_object().if_contains(member);
            row.push_back(value != nullptr ? shown(member, *value) : member == "namespace" ? "default" : "-");
        }
    }
    const std::size_t name = rows[0][0] == "queue" ? 0 : 1;
    std::printf("\n%s", table(rows, name, output_columns()).c_str());
}

int stats(Session& session, const StatsArguments&) {
    const ServerAnswer answer = session.ask("GET", "/v1/stats");
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] {
        print_levels(answer.members);
        const json::value* queues = answer.members.if_contains("queues");
        if (queues != nullptr && queues->is_array() && !queues->get_array().empty()) print_queues(queues->get_array());
    });
}

}  // namespace

void add_stats(CLI::App& program, Session& session) {
    Verb<StatsArguments>(program, session, "stats", "Show the server's counts, and its counters since the start",
                         "duewheel stats --json", stats);
}

}  // namespace duewheel

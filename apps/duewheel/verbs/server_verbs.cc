// The verbs on a server as a whole: duewheel stats, health, clock and call.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "arguments.h"
#include "base/error_codes.h"
#include "calendar/instant_text.h"
#include "content.h"
#include "http_api/fields/json_text.h"
#include "local_time.h"
#include "plain_text.h"
#include "terminal.h"
#include "verbs.h"

namespace duewheel {
namespace {

namespace json = boost::json;

struct NoArguments {};
struct AdvanceArguments {
    std::optional<std::string> by;
    std::optional<std::string> to;
    std::optional<std::string> zone;
};
struct CallArguments {
    std::string method;
    std::string path;
    std::optional<std::string> body;
};

bool is_instant(std::string_view member) {
    return member == "server_time_ms" || member == "oldest_due_ms";
}

std::string shown_level(std::string_view member, const json::value& value) {
    if (is_instant(member) && value.is_int64()) return format_local(value.get_int64());
    if (value.is_string()) return printable({value.get_string().data(), value.get_string().size()});
    if (value.is_bool()) return value.get_bool() ? "yes" : "no";
    return printable(plain_json(value));
}

std::string label_of_level(std::string_view member) {
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
        rows.push_back({label_of_level(member), shown_level(member, pair.value())});
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
    for (const std::string& member : members) rows[0].push_back(label_of_level(member));
    for (const json::value& queue : queues) {
        if (!queue.is_object()) continue;
        std::vector<std::string>& row = rows.emplace_back();
        for (const std::string& member : members) {
            const json::value* value = queue.get_object().if_contains(member);
            row.push_back(value != nullptr ? shown_level(member, *value) : member == "namespace" ? "default" : "-");
        }
    }
    const std::size_t name = rows[0][0] == "queue" ? 0 : 1;
    std::printf("\n%s", table(rows, name, output_columns()).c_str());
}

int stats(Session& session, const NoArguments&) {
    const ServerAnswer answer = session.ask("GET", "/v1/stats");
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] {
        print_levels(answer.members);
        const json::value* queues = answer.members.if_contains("queues");
        if (queues != nullptr && queues->is_array() && !queues->get_array().empty()) print_queues(queues->get_array());
    });
}

int health(Session& session, const NoArguments&) {
    if (const int exit_code = session.check_health(); exit_code != kExitDone) return exit_code;
    std::printf("%s\n", session.json ? R"({"healthy":true})" : "healthy");
    return kExitDone;
}

std::string words_for(std::string_view state) {
    if (state == "steady") return "steady: server time follows the wall clock";
    if (state == "slow") return "slow: the wall clock was set back; server time runs slower until it catches up";
    if (state == "quarantine") return "quarantine: the wall clock was set ahead, and is trusted after a minute";
    if (state == "held") return "held: the wall clock is too far ahead; if it is right, run `duewheel clock accept`";
    if (state == "test") return "test: server time moves only by `duewheel clock advance`";
    return printable(state);
}

int show_clock(const Session& session, const ServerAnswer& answer) {
    if (!answer) return answer.exit_code;
    return session.show(answer, [&] {
        const std::int64_t ahead_ms = answer.number("wall_clock_ahead_ms");
        const std::string distance = ahead_ms == 0  ? "the same"
                                     : ahead_ms > 0 ? format_span(ahead_ms) + " ahead"
                                                    : format_span(-ahead_ms) + " behind";
        std::printf("%s", fields({{"server time", format_local(answer.number("server_time_ms"))},
                                  {"wall clock", format_local(answer.number("wall_clock_ms")) + ", " + distance},
                                  {"state", words_for(answer.word("state"))},
                                  {"on a long jump", printable(answer.word("on_jump"))},
                                  {"jumps", std::to_string(answer.number("jumps"))}})
                              .c_str());
    });
}

int show(Session& session, const NoArguments&) {
    return show_clock(session, session.ask("GET", "/v1/clock"));
}

int accept(Session& session, const NoArguments&) {
    return show_clock(session, session.ask("POST", "/v1/clock:accept"));
}

int advance(Session& session, const AdvanceArguments& arguments) {
    json::object request;
    if (arguments.by) request["by"] = json_text(*arguments.by);
    if (arguments.to) {
        const Result<InstantMs> to = parse_local_instant(*arguments.to, arguments.zone);
        if (!to) return session.complain({to.error().code, to.error().message, "--to"}, kExitUsage);
        request["to"] = format_instant(*to);
    }
    if (!arguments.by && !arguments.to) {
        return session.complain({"missing_member"_code, "Give --by, such as 1h, or --to, such as 2027-01-01T06:00", ""},
                                kExitUsage);
    }
    return show_clock(session, session.ask("POST", "/v1/clock:advance", request));
}

// The response as the server sent it.
int call(Session& session, const CallArguments& arguments) {
    std::string body;
    if (arguments.body) {
        const Result<std::string> read = read_body_argument(*arguments.body);
        if (!read) return session.complain(read.error(), kExitUsage);
        if (!is_json_text(*read)) {
            return session.complain(
                {"bad_json"_code, "The content is not valid JSON, or is nested too deeply.", "JSON"}, kExitUsage);
        }
        body = *read;
    }
    if (!arguments.path.starts_with('/') || session.name_space) {
        return session.complain({"bad_path"_code,
                                 "PATH is the whole path of the call, such as /v1/queues/mail, and with a namespace "
                                 "/v1/namespaces/team/queues/mail",
                                 "PATH"},
                                kExitUsage);
    }
    const ServerAnswer answer = session.call(arguments.method, arguments.path, body);
    if (!answer && answer.text.empty()) return answer.exit_code;
    const bool has_end = answer.text.empty() || answer.text.ends_with('\n');
    const bool is_json = is_json_text(answer.text);
    std::printf("%s%s", (is_json ? printable_json(answer.text) : printable_lines(answer.text)).c_str(),
                has_end ? "" : "\n");
    return answer.exit_code;
}

void add_stats(CLI::App& program, Session& session) {
    Verb<NoArguments>(program, session, "stats", "Show the server's counts, and its counters since the start",
                      "duewheel stats --json", stats);
}

void add_health(CLI::App& program, Session& session) {
    Verb<NoArguments>(program, session, "health", "Check that the server responds within 5 seconds; exits 3 if not",
                      "duewheel health", health);
}

void add_call(CLI::App& program, Session& session) {
    Verb<CallArguments> verb(
        program, session, "call", "Make any call of the HTTP API and print the response, for calls that have no verb",
        "duewheel call GET '/v1/stats?queues=3'\n"
        "  duewheel call POST /v1/queues/mail/messages '{\"body\": \"Hello\", \"delay\": \"10m\"}'",
        call);
    CallArguments& options = *verb.options;
    verb.app->add_option("METHOD", options.method, "GET, POST, PUT, PATCH or DELETE")
        ->required()
        ->check(CLI::Validator(
            [](const std::string& text) {
                constexpr std::string_view kMethods[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
                const bool is_one = std::find(std::begin(kMethods), std::end(kMethods), text) != std::end(kMethods);
                return is_one ? std::string() : "takes GET, POST, PUT, PATCH or DELETE, not " + text;
            },
            ""));
    verb.app->add_option("PATH", options.path, "The path with its parameters, such as /v1/queues/mail")->required();
    verb.app->add_option("JSON", options.body, "The members: JSON text, - for standard input, @FILE for a file");
}

void add_clock(CLI::App& program, Session& session) {
    CLI::App& clock = add_group(program, "clock", "Show, accept or advance the server's clock", "duewheel clock show");
    Verb<NoArguments>(clock, session, "show", "Show server time and the wall clock", "duewheel clock show", show);
    Verb<NoArguments>(clock, session, "accept", "Accept a wall clock that was set far ahead: server time jumps to it",
                      "duewheel clock accept", accept);
    Verb<AdvanceArguments> moved(clock, session, "advance", "Advance the time of a server that runs with --test-clock",
                                 "duewheel clock advance --by 1h", advance);
    CLI::Option* by = moved.app->add_option("--by", moved.options->by, "By this duration: 10m, 30d");
    takes_duration(by->type_name("DURATION"));
    CLI::Option* to = moved.app->add_option("--to", moved.options->to, "To this time")->type_name("TIME");
    by->excludes(to);
    moved.app->add_option("--zone,--tz", moved.options->zone, "Time zone of --to")->type_name("ZONE")->needs(to);
}

}  // namespace

void add_server_verbs(CLI::App& program, Session& session) {
    add_clock(program, session);
    add_stats(program, session);
    add_health(program, session);
    add_call(program, session);
}

}  // namespace duewheel

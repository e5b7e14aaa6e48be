// duewheel list: the unfinished messages of a queue by due time; or its dead letters by time of death.
#include <cstdio>

#include "arguments.h"
#include "base/system_clock.h"
#include "calendar/instant_text.h"
#include "local_time.h"
#include "pages.h"
#include "plain_text.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct ListArguments {
    std::string queue;
    std::vector<std::string> states;
    StretchArguments stretch;
};

// When and why a dead letter died: its due time has passed and no longer matters.
std::vector<std::string> dead_row_of(const boost::json::object& message, InstantMs now) {
    const std::int64_t ended = number_of(message, "ended_ms");
    return {printable(word_of(message, "id")), format_local(ended), format_relative(ended, now),
            std::to_string(number_of(message, "attempts")), printable(word_of(message, "reason"))};
}

std::vector<std::string> row_of(const boost::json::object& message, InstantMs now) {
    const std::int64_t due = number_of(message, "due_ms");
    return {printable(word_of(message, "id")),
            printable(word_of(message, "state")),
            format_local(due),
            format_relative(due, now),
            std::to_string(number_of(message, "attempts")),
            std::to_string(number_of(message, "priority"))};
}

int list(Session& session, const ListArguments& arguments) {
    std::string path = session.path("queues", arguments.queue, "/messages");
    std::string states;
    for (const std::string& state : arguments.states) states += (states.empty() ? "" : ",") + state;
    if (!arguments.states.empty()) add_parameter(path, "state", states);
    for (const auto& [name, text] :
         {std::pair("due_after", arguments.stretch.from), std::pair("due_before", arguments.stretch.to)}) {
        if (!text) continue;
        const Result<InstantMs> instant = arguments.stretch.instant(*text);
        if (!instant) return session.complain(instant.error(), kExitUsage);
        add_parameter(path, name, format_instant(*instant));
    }
    const bool dead = states == "dead";
    Rows rows = {{"id", "state", "due", "", "tries", "prio"}};
    if (dead) rows = {{"id", "died", "", "tries", "reason"}};
    const InstantMs now = wall_now_ms();
    const PagesShown shown =
        show_pages(session, path, "messages", arguments.stretch.limit, [&](const boost::json::object& message) {
            if (session.json) {
                std::printf("%s\n", boost::json::serialize(message).c_str());
            } else {
                rows.push_back(dead ? dead_row_of(message, now) : row_of(message, now));
            }
        });
    if (!session.json) print_pages(shown, rows, dead ? 4 : 2, "no such messages");
    return shown.exit_code;
}

}  // namespace

void add_list(CLI::App& program, Session& session) {
    Verb<ListArguments> verb(program, session, "list",
                             "List the pending messages of a queue by due time; with --json one per line",
                             "duewheel list mail --state ready,leased --to 1h --limit 20", list);
    ListArguments& options = *verb.options;
    verb.app->add_option("QUEUE", options.queue, "The queue's name")->required();
    verb.app
        ->add_option(
            "--state", options.states,
            "Only these, separated by commas: prepared, scheduled, ready, leased, retrying, held; or dead alone")
        ->delimiter(',')
        ->type_name("STATE");
    options.stretch.add_to(*verb.app, "Due");
}

}  // namespace duewheel

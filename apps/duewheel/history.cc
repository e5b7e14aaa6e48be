// duewheel history: how the messages of a queue ended.
#include <cstdio>

#include "arguments.h"
#include "calendar/instant_text.h"
#include "local_time.h"
#include "pages.h"
#include "plain_text.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct HistoryArguments {
    std::string queue;
    std::optional<std::string> id;
    std::vector<std::string> outcomes;
    StretchArguments stretch;
};

std::vector<std::string> row_of(const boost::json::object& ended) {
    const bool delivered = ended.contains("lateness_ms");
    return {printable(word_of(ended, "id")),
            printable(word_of(ended, "outcome")),
            printable(word_of(ended, "cause")),
            format_local(number_of(ended, "ended_ms")),
            delivered ? format_span(number_of(ended, "lateness_ms")) : "-",
            std::to_string(number_of(ended, "attempts"))};
}

int history(Session& session, const HistoryArguments& arguments) {
    std::string path = session.path("history");
    add_parameter(path, "queue", arguments.queue);
    if (arguments.id) add_parameter(path, "id", *arguments.id);
    std::string outcomes;
    for (const std::string& outcome : arguments.outcomes) outcomes += (outcomes.empty() ? "" : ",") + outcome;
    if (!arguments.outcomes.empty()) add_parameter(path, "outcome", outcomes);
    for (const auto& [name, text] :
         {std::pair("from", arguments.stretch.from), std::pair("to", arguments.stretch.to)}) {
        if (!text) continue;
        const Result<InstantMs> instant = arguments.stretch.instant(*text);
        if (!instant) return session.complain(instant.error(), kExitUsage);
        add_parameter(path, name, format_instant(*instant));
    }
    Rows rows = {{"id", "outcome", "cause", "ended", "late", "tries"}};
    const PagesShown shown =
        show_pages(session, path, "ended", arguments.stretch.limit, [&](const boost::json::object& ended) {
            if (session.json) {
                std::printf("%s\n", boost::json::serialize(ended).c_str());
            } else {
                rows.push_back(row_of(ended));
            }
        });
    if (!session.json) print_pages(shown, rows, 2, "no message like this has ended");
    return shown.exit_code;
}

}  // namespace

void add_history(CLI::App& program, Session& session) {
    Verb<HistoryArguments> verb(program, session, "history",
                                "Show how the messages of a queue ended, oldest first; with --json one per line",
                                "duewheel history mail --from=-1h --outcome done,expired", history);
    HistoryArguments& options = *verb.options;
    verb.app->add_option("QUEUE", options.queue, "The queue's name")->required();
    verb.app
        ->add_option("--id", options.id, "Only this message; history is kept longer than `get` shows ended messages")
        ->type_name("ID");
    verb.app
        ->add_option("--outcome", options.outcomes, "Only these, separated by commas: done, cancelled, expired, dead")
        ->delimiter(',')
        ->type_name("OUTCOME");
    options.stretch.add_to(*verb.app, "Ended");
}

}  // namespace duewheel

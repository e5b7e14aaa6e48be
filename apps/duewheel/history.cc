// duewheel history: how the messages of a queue ended.
#include "arguments.h"
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
            delivered ? format_span(number_of(ended, "wait_ms")) : "-",
            delivered ? format_span(number_of(ended, "lateness_ms")) : "-",
            std::to_string(number_of(ended, "attempts"))};
}

int history(Session& session, const HistoryArguments& arguments) {
    std::string path = session.path("history");
    add_parameter(path, "queue", arguments.queue);
    if (arguments.id) add_parameter(path, "id", *arguments.id);
    add_parameter(path, "outcome", arguments.outcomes);
    if (Status added = arguments.stretch.add_parameters(path, "from", "to"); !added) {
        return session.complain(added.error(), kExitUsage);
    }
    return show_list(session,
                     {.path = path,
                      .member = "ended",
                      .limit = arguments.stretch.limit,
                      .heading = {"id", "outcome", "cause", "ended", "waited", "late", "tries"},
                      .cut = 2,
                      .none = "no message like this has ended"},
                     row_of);
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

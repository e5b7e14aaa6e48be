// duewheel list: the unfinished messages of a queue by due time; or its dead letters by time of death.
#include "arguments.h"
#include "base/system_clock.h"
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
// The exception stands at the end of a stack trace.
std::string_view last_line(std::string_view text) {
    const std::size_t end = text.find_last_not_of(" \t\r\n");
    text = text.substr(0, end == text.npos ? 0 : end + 1);
    return text.substr(text.find_last_of("\r\n") + 1);
}

std::vector<std::string> dead_row_of(const boost::json::object& message, InstantMs now) {
    const std::int64_t ended = number_of(message, "ended_ms");
    return {printable(word_of(message, "id")), format_local(ended), format_relative(ended, now),
            std::to_string(number_of(message, "attempts")), printable(last_line(word_of(message, "reason")))};
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
    add_parameter(path, "state", arguments.states);
    if (Status added = arguments.stretch.add_parameters(path, "due_after", "due_before"); !added) {
        return session.complain(added.error(), kExitUsage);
    }
    const InstantMs now = wall_now_ms();
    Listing listing = {.path = path,
                       .member = "messages",
                       .limit = arguments.stretch.limit,
                       .heading = {"id", "state", "due", "", "tries", "prio"},
                       .cut = 2,
                       .none = "no such messages"};
    if (arguments.states != std::vector<std::string>{"dead"}) {
        return show_list(session, listing, [&](const auto& message) { return row_of(message, now); });
    }
    listing.heading = {"id", "died", "", "tries", "reason"};
    listing.cut = 4;
    return show_list(session, listing, [&](const auto& message) { return dead_row_of(message, now); });
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

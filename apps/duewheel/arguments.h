// Arguments that several verbs take.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "session.h"

namespace duewheel {

// A verb whose options live in an `Options` as long as the program; `run` gets them when the verb is chosen. Options of
// the program itself, such as --json, may stand behind the verb.
template <class Options>
struct Verb {
    CLI::App* app;
    std::shared_ptr<Options> options = std::make_shared<Options>();  // shared with the callback

    Verb(CLI::App& program, Session& session, const char* name, const char* description, const char* example,
         int (*run)(Session&, const Options&))
        : app(program.add_subcommand(name, description)) {
        app->fallthrough();
        app->footer(std::string("All commands also take the global options, such as --server, --namespace and --json: "
                                "see duewheel --help.\nExample:\n  ") +
                    example);
        app->callback(
            [&session, run, held = options] { session.verb = [&session, run, held] { return run(session, *held); }; });
    }
};

// Makes an option one for a duration: "10m". What is none is refused before anything is sent.
void takes_duration(CLI::Option* option);

// When something is due: --in 10m, or --at 2027-01-01T06:00 with --tz, and --flex. An empty text is none of these and
// is refused: it is what a script passes whose variable is not set.
struct WhenArguments {
    std::optional<std::string> in;
    std::optional<std::string> at;
    std::optional<std::string> zone;
    std::optional<std::string> flex;

    void add_to(CLI::App& verb);
    bool given() const { return in || at; }
    // Adds `delay` or `due`, and `flex`, to a request; codes as parse_local_instant().
    Status put_into(boost::json::object& request) const;
};

// A text as a member's value, whatever its type of string.
boost::json::string json_text(std::string_view text);

// For verbs that change a message: prints the outcome, also of a command that came too late, which is refused.
// `waiting`: what it means that the message waits.
int show_change(const Session& session, const ServerAnswer& answer,
                std::string_view waiting = "there is nothing to bring back");

}  // namespace duewheel

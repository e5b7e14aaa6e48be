// Arguments that several verbs take.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "session.h"

namespace duewheel {

// A verb whose options are stored in an `Options` that lives as long as the program; `run` receives them when the verb
// is called. Global options, such as --json, may follow the verb.
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

// A verb that only has verbs of its own, such as `queue`.
CLI::App& add_group(CLI::App& program, const char* name, const char* description, const char* example);

struct NameArguments {
    std::string name;
};

// The verbs of a group for one object, such as `queue pause QUEUE`.
class NamedVerbs {
  public:
    // The name's placeholder in the help, and its description.
    NamedVerbs(CLI::App& group, Session& session, const char* placeholder, const char* help)
        : group_(group), session_(session), placeholder_(placeholder), help_(help) {}

    void add(const char* name, const char* description, const std::string& example,
             int (*run)(Session&, const NameArguments&)) const {
        Verb<NameArguments> verb(group_, session_, name, description, example.c_str(), run);
        verb.app->add_option(placeholder_, verb.options->name, help_)->required();
    }

  private:
    CLI::App& group_;
    Session& session_;
    const char* placeholder_;
    const char* help_;
};

// Makes an option take a duration: "10m". Other values are refused before anything is sent.
void takes_duration(CLI::Option* option);

// When a message is due: --delay 10m, or --due 2027-01-01T06:00 with --zone, and --flex. An empty text is refused: a
// script passes one if its variable is not set. --in, --at and --tz are older names.
struct WhenArguments {
    std::optional<std::string> delay;
    std::optional<std::string> due;
    std::optional<std::string> zone;
    std::optional<std::string> flex;

    void add_to(CLI::App& verb);
    bool given() const { return delay || due; }
    // Adds `delay` or `due`, and `flex`, to a request; codes as parse_local_instant().
    Status put_into(boost::json::object& request) const;
};

// A text as the value of a member.
boost::json::string json_text(std::string_view text);

// For verbs that change a message: prints the outcome, also of a command that came too late, which is refused.
// `waiting`: the text for the outcome `waiting`.
int show_change(const Session& session, const ServerAnswer& answer,
                std::string_view waiting = "it is neither held nor dead");

}  // namespace duewheel

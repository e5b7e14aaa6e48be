// Arguments that several verbs take.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/status.h"
#include "session.h"
#include "shared/instant.h"

namespace duewheel {

// A verb whose options are stored in an `Options` that lives as long as the program; `run` receives them when the verb
// is called. Global options, such as --json, may follow the verb.
template <class Options>
struct Verb {
    CLI::App* app;
    std::shared_ptr<Options> options = std::make_shared<Options>();  // shared with the callback

    Verb(CLI::App& program, Session& session, const char* name, const char* description, const std::string& example,
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

// Makes an option take a duration: "10m". Other values are refused before anything is sent.
void takes_duration(CLI::Option* option);

// When a message is due: --delay 10m, or --due 2027-01-01T06:00 with --zone. An empty text is refused: a
// script passes one if its variable is not set. --in, --at and --tz are older names.
struct WhenArguments {
    std::optional<std::string> delay;
    std::optional<std::string> due;
    std::optional<std::string> zone;

    void add_to(CLI::App& verb);
    bool given() const { return delay || due; }
    // Adds `delay` or `due` to a request; codes as parse_local_instant().
    Status put_into(boost::json::object& request) const;
};

// A text as the value of a member.
boost::json::string json_text(std::string_view text);

// --from and --to: a time as for --at, or a duration from now; with a leading minus, before now.
struct StretchArguments {
    std::optional<std::string> from;
    std::optional<std::string> to;
    std::optional<std::string> zone;
    std::uint64_t limit = 100;

    // `what` is between the two: "due".
    void add_to(CLI::App& verb, std::string_view what);
    // The instant of one of the two texts. Codes: as parse_local_instant().
    Result<InstantMs> instant(const std::string& text) const;
    // Adds those that are given as parameters with these names. Codes as above.
    Status add_parameters(std::string& path, std::string_view from_name, std::string_view to_name) const;
};

// Adds "&name=value" or "?name=value", with the value encoded; several values are separated by commas, and none of them
// adds nothing.
void add_parameter(std::string& path, std::string_view name, std::string_view value);
void add_parameter(std::string& path, std::string_view name, const std::vector<std::string>& values);

// --limit: the maximum number of rows, at least 1.
void takes_limit(CLI::App& verb, std::uint64_t& limit);
// The same for another option that limits what is shown.
CLI::Option* takes_at_least_one(CLI::Option* option);

}  // namespace duewheel

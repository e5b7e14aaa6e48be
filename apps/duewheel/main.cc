// The command line: parse, ask, show. docs/command_line.md describes it for its users.
#include <CLI/CLI.hpp>

#include "session.h"
#include "verbs.h"

namespace {

constexpr char kExitCodes[] =
    "Exit codes: 0 done, 1 refused or too late, 2 the command line is wrong, 3 the server cannot be reached.\n"
    "Example:\n"
    "  duewheel put mail 'Hello' --in 10m\n"
    "  duewheel lease mail --wait 20s";

}  // namespace

int main(int argc, char** argv) {
    duewheel::Session session;
    CLI::App program{"duewheel hands messages to a Duewheel server, to be handed out when they are due.", "duewheel"};
    program.failure_message([](const CLI::App*, const CLI::Error& error) {
        return "duewheel: " + std::string(error.what()) + "\nRun `duewheel VERB --help` for what a verb takes.\n";
    });
    program.set_version_flag("--version", DUEWHEEL_VERSION);
    program.add_option("--server", session.server, "Where the server is")
        ->envname("DUEWHEEL_SERVER")
        ->type_name("URL")
        ->capture_default_str();
    program.add_option("--namespace", session.name_space, "Another namespace than the default one")->type_name("NAME");
    program.add_flag("--json", session.json, "Print the server's answer as JSON, for scripts");
    program.require_subcommand(1);
    program.footer(kExitCodes);
    for (const auto add : {duewheel::add_put, duewheel::add_get, duewheel::add_cancel, duewheel::add_move,
                           duewheel::add_fire, duewheel::add_lease, duewheel::add_ack, duewheel::add_fail,
                           duewheel::add_extend, duewheel::add_release, duewheel::add_stats, duewheel::add_check}) {
        add(program, session);
    }
    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        // It prints what was asked for (--help, --version) or what is wrong.
        return program.exit(error) == 0 ? duewheel::kExitDone : duewheel::kExitUsage;
    }
    return session.verb();
}

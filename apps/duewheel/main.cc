// The command line: parses arguments, sends requests, prints results. docs/command_line.md describes it for users.
#include <cstdio>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/version.h"
#include "session.h"
#include "usage_error.h"
#include "verbs/verbs.h"

namespace {

constexpr char kExitCodes[] =
    "Exit codes: 0 done, 1 refused or too late, 2 invalid command line, 3 the server cannot be reached.\n"
    "Example:\n"
    "  duewheel put mail 'Hello' --delay 10m\n"
    "  duewheel lease mail --wait 20s";

}  // namespace

int main(int argc, char** argv) {
    duewheel::Session session;
    CLI::App program{"duewheel is the command line client of duewheeld, a server for delayed messages.", "duewheel"};
    const std::vector<std::string> words(argv + 1, argv + argc);
    program.failure_message([&words](const CLI::App* parsed, const CLI::Error& error) {
        const duewheel::UsageError wrong = duewheel::explain_usage_error(*parsed, error, words);
        return "duewheel: " + wrong.what + "\nRun `" + wrong.help_command + "` for usage.\n";
    });
    program.set_version_flag("--version", duewheel::kFullVersion);
    session.server.add_to(program);
    program.add_option("--namespace", session.name_space, "The namespace to work in")->type_name("NAME");
    program.add_flag("--json", session.json, "Print the server's response as JSON, for scripts");
    program.require_subcommand(1);
    program.footer(kExitCodes);
    for (const auto add : {duewheel::add_put_verbs,   duewheel::add_message_verbs,   duewheel::add_list_verbs,
                           duewheel::add_lease,       duewheel::add_lease_verbs,     duewheel::add_queue,
                           duewheel::add_group_verbs, duewheel::add_schedule,        duewheel::add_watchdog,
                           duewheel::add_namespace,   duewheel::add_token,           duewheel::add_server_verbs,
                           duewheel::add_top,         duewheel::add_kafka,           duewheel::add_demo,
                           duewheel::add_bench,       duewheel::add_directory_verbs, duewheel::add_audit,
                           duewheel::add_export,      duewheel::add_import,          duewheel::add_completion}) {
        add(program, session);
    }
    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        // Prints --help or --version, or the error.
        return program.exit(error) == 0 ? duewheel::kExitDone : duewheel::kExitUsage;
    }
    const int exit_code = session.verb();
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
    std::fprintf(
        stderr,
        "duewheel: The command succeeded, but its output could not be written: standard output is full or closed.\n");
    return duewheel::kExitRefused;
}

// The command line: parse, ask, show. docs/command_line.md describes it for its users.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/nearest_name.h"
#include "plain_text.h"
#include "session.h"
#include "verbs.h"

namespace {

constexpr char kExitCodes[] =
    "Exit codes: 0 done, 1 refused or too late, 2 the command line is wrong, 3 the server cannot be reached.\n"
    "Example:\n"
    "  duewheel put mail 'Hello' --in 10m\n"
    "  duewheel lease mail --wait 20s";

struct Wrong {
    std::string what;
    std::string help;  // the command that says what would be right
};

// The first word that names no verb where one has to stand: `que` in `que list`, `shwo` in `clock shwo`.
std::optional<Wrong> find_unknown_verb(const CLI::App& program, const std::vector<std::string>& words) {
    const auto verbs_of = [](const CLI::App* app) {
        return app->get_subcommands([](const CLI::App*) { return true; });
    };
    std::vector<const CLI::App*> verbs = verbs_of(&program);
    std::string named_so_far = "duewheel";
    for (std::size_t i = 0; i < words.size() && !verbs.empty(); ++i) {
        const bool takes_the_next = words[i] == "--server" || words[i] == "--namespace";
        if (takes_the_next) ++i;
        if (takes_the_next || words[i].empty() || words[i].starts_with('-')) continue;
        const std::string& word = words[i];
        const auto named = [&](const CLI::App* verb) { return verb->get_name() == word; };
        if (const auto found = std::find_if(verbs.begin(), verbs.end(), named); found != verbs.end()) {
            verbs = verbs_of(*found);
            named_so_far += " " + word;
            continue;
        }
        constexpr std::size_t kLongestVerb = 16;
        std::vector<std::string_view> names;
        for (const CLI::App* verb : verbs) names.push_back(verb->get_name());
        const std::string_view nearest = duewheel::nearest_name(word.substr(0, kLongestVerb), names);
        const bool is_near = word.size() <= kLongestVerb && duewheel::is_near(word, nearest);
        return Wrong{"There is no verb " + duewheel::printable(word) + " here" +
                         (is_near ? "; did you mean " + std::string(nearest) + "?" : "."),
                     named_so_far + " --help"};
    }
    return std::nullopt;
}

// The parser complains of what is missing before it looks at what is left over; but whoever wrote `--jsno` or `pt` is
// helped by hearing of that.
std::string what_is_wrong(const CLI::App& program, const CLI::Error& error) {
    const std::vector<std::string> left_over = program.remaining(true);
    const auto is_option = [](const std::string& argument) { return argument.size() > 1 && argument[0] == '-'; };
    const auto option = std::find_if(left_over.begin(), left_over.end(), is_option);
    if (option != left_over.end()) return "There is no option " + duewheel::printable(*option) + " here.";
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ConversionError)) {
        return duewheel::printable(error.what()) + ": a whole number is expected there, and not one too large.";
    }
    if (!program.get_subcommands().empty()) return duewheel::printable(error.what());
    return "Say what to do: put, get, cancel, lease or another verb; `duewheel --help` lists them.";
}

// How to ask for the help of the verb that was named, or of the program where none was.
std::string help_for(const CLI::App& program) {
    std::string command = "duewheel";
    for (const CLI::App* app = &program; !app->get_subcommands().empty();) {
        app = app->get_subcommands().front();
        command += " " + app->get_name();
    }
    return command + " --help";
}

}  // namespace

int main(int argc, char** argv) {
    duewheel::Session session;
    CLI::App program{"duewheel hands messages to a Duewheel server, to be handed out when they are due.", "duewheel"};
    const std::vector<std::string> words(argv + 1, argv + argc);
    program.failure_message([&words](const CLI::App* parsed, const CLI::Error& error) {
        const Wrong wrong =
            find_unknown_verb(*parsed, words).value_or(Wrong{what_is_wrong(*parsed, error), help_for(*parsed)});
        return "duewheel: " + wrong.what + "\nRun `" + wrong.help + "` for what it takes.\n";
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
    for (const auto add :
         {duewheel::add_put,      duewheel::add_prepare,  duewheel::add_commit,    duewheel::add_rollback,
          duewheel::add_get,      duewheel::add_cancel,   duewheel::add_move,      duewheel::add_fire,
          duewheel::add_list,     duewheel::add_history,  duewheel::add_forecast,  duewheel::add_lease,
          duewheel::add_ack,      duewheel::add_fail,     duewheel::add_extend,    duewheel::add_release,
          duewheel::add_hold,     duewheel::add_kick,     duewheel::add_discard,   duewheel::add_queue,
          duewheel::add_schedule, duewheel::add_watchdog, duewheel::add_namespace, duewheel::add_clock,
          duewheel::add_stats,    duewheel::add_top,      duewheel::add_bench,     duewheel::add_check,
          duewheel::add_backup,   duewheel::add_restore,  duewheel::add_export,    duewheel::add_import}) {
        add(program, session);
    }
    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        // It prints what was asked for (--help, --version) or what is wrong.
        return program.exit(error) == 0 ? duewheel::kExitDone : duewheel::kExitUsage;
    }
    const int exit_code = session.verb();
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
    std::fprintf(stderr, "duewheel: The answer came, but could not be written: standard output is full or closed.\n");
    return duewheel::kExitRefused;
}

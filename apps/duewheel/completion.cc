// duewheel completion: a script for each shell that completes this program's commands and options.
#include <cstdio>

#include "arguments.h"
#include "completion_tree.h"
#include "verbs.h"

namespace duewheel {
namespace {

struct CompletionArguments {
    const CLI::App* program = nullptr;
};

template <std::string (*script_of)(const CompletedCommand&)>
int print(Session&, const CompletionArguments& arguments) {
    std::printf("%s", script_of(completed_commands(*arguments.program)).c_str());
    return kExitDone;
}

void add_shell(CLI::App& parent, const CLI::App& program, Session& session, const char* shell, const char* description,
               const char* example, int (*run)(Session&, const CompletionArguments&)) {
    Verb<CompletionArguments> verb(parent, session, shell, description, example, run);
    verb.options->program = &program;
}

}  // namespace

void add_completion(CLI::App& program, Session& session) {
    CLI::App& completion =
        add_group(program, "completion", "Print a script that completes commands and options in a shell",
                  "duewheel completion bash");
    add_shell(completion, program, session, "bash", "For bash: source it, or save it in its directory of completions",
              "duewheel completion bash", print<bash_completion>);
    add_shell(completion, program, session, "zsh",
              "For zsh: source it after compinit, or save it as _duewheel in $fpath", "duewheel completion zsh",
              print<zsh_completion>);
    add_shell(completion, program, session, "fish", "For fish: save it in ~/.config/fish/completions",
              "duewheel completion fish", print<fish_completion>);
}

}  // namespace duewheel

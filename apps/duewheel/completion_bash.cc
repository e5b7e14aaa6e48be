// Completion for bash: one table of the words that may follow each command, and a function that finds the command in
// the line.
#include <algorithm>

#include "completion_tree.h"

namespace duewheel {
namespace {

constexpr char kFunction[] = R"(_duewheel() {
    local command=duewheel commands options valued files directories word words= kind= i
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
    _duewheel_after "$command"
    for ((i = 1; i < COMP_CWORD; ++i)); do
        word=" ${COMP_WORDS[i]} "
        if [[ " $valued " == *"$word"* ]]; then
            ((++i))
        elif [[ " $commands " == *"$word"* ]]; then
            command+=" ${COMP_WORDS[i]}"
            _duewheel_after "$command"
        fi
    done
    if ((i > COMP_CWORD)); then
        [[ " $files " != *" $previous "* ]] || kind=-f
        [[ " $directories " != *" $previous "* ]] || kind=-d
    elif [[ $current == -* ]]; then
        words=$options
    elif [[ -n $commands ]]; then
        words=$commands
    elif [[ " $files " == *" ARGUMENT "* ]]; then
        kind=-f
    elif [[ " $directories " == *" ARGUMENT "* ]]; then
        kind=-d
    fi
    if [[ -n $kind ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen $kind -- "$current")
    else
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    fi
}
complete -F _duewheel duewheel
)";

void add_word(std::string& list, const std::string& word) {
    list += (list.empty() ? "" : " ") + word;
}

void add_row(std::string& rows, const CompletedCommand& command) {
    std::string commands, options, valued, files, directories;
    for (const CompletedCommand& below : command.commands) add_word(commands, below.words.back());
    for (const CompletedOption& option : command.options) {
        for (const std::string& name : option.names) {
            add_word(options, name);
            if (option.value != CompletedValue::none) add_word(valued, name);
            if (option.value == CompletedValue::file) add_word(files, name);
            if (option.value == CompletedValue::directory) add_word(directories, name);
        }
    }
    const auto takes = [&](CompletedValue value) {
        return std::any_of(command.arguments.begin(), command.arguments.end(),
                           [value](const CompletedOption& argument) { return argument.value == value; });
    };
    if (takes(CompletedValue::file)) add_word(files, "ARGUMENT");
    if (takes(CompletedValue::directory)) add_word(directories, "ARGUMENT");
    rows += "        '" + command.joined(" ") + "')\n            commands='" + commands + "'\n            options='" +
            options + "'\n            valued='" + valued + "'\n            files='" + files + "' directories='" +
            directories + "' ;;\n";
    for (const CompletedCommand& below : command.commands) add_row(rows, below);
}

}  // namespace

std::string bash_completion(const CompletedCommand& program) {
    std::string rows;
    add_row(rows, program);
    return "# Completion of duewheel for bash, made by `duewheel completion bash`.\n"
           "_duewheel_after() {\n    case $1 in\n" +
           rows + "    esac\n}\n" + kFunction;
}

}  // namespace duewheel

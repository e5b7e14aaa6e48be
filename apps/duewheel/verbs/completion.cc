// duewheel completion: a script for each shell that completes this program's commands and options. They are read from
// the parser's tree, so that a new option is completed without further code.
//
// The kind of a value follows from the word that the help shows for it: DIR and BACKUP are directories, FILE is a file.
// Other values are not completed; shells that support it show the word instead.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "arguments.h"
#include "verbs.h"

namespace duewheel {
namespace {

enum class CompletedValue { none, other, file, directory };

struct CompletedOption {
    std::vector<std::string> names;  // "--help", "-h"; empty for a positional argument
    std::string description;
    std::string value_name;  // "DURATION"
    CompletedValue value = CompletedValue::none;
    bool repeated = false;
};

struct CompletedCommand {
    std::vector<std::string> words;  // {"duewheel", "queue", "set"}
    std::string description;
    std::vector<CompletedCommand> commands;
    std::vector<CompletedOption> options;  // those of the program that may follow the command included
    std::vector<CompletedOption> arguments;

    std::string joined(const char* separator) const;  // of the words
};

std::string CompletedCommand::joined(const char* separator) const {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
    return text;
}

CompletedValue value_of(const std::string& value_name) {
    if (value_name == "DIR" || value_name == "BACKUP") return CompletedValue::directory;
    return value_name == "FILE" ? CompletedValue::file : CompletedValue::other;
}

CompletedOption completed(const CLI::Option& option) {
    CompletedOption result;
    result.description = option.get_description();
    result.repeated = option.get_items_expected_max() > 1;
    for (const std::string& name : option.get_lnames()) result.names.push_back("--" + name);
    for (const std::string& name : option.get_snames()) result.names.push_back("-" + name);
    if (result.names.empty()) {
        result.value_name = option.get_name(true);
        result.value = value_of(result.value_name);
    } else if (option.get_items_expected_max() > 0) {
        const std::string type = option.get_type_name();
        result.value_name = type.substr(0, type.find(':'));
        result.value = value_of(result.value_name);
    }
    return result;
}

// `inherited`: global options, which may follow every command.
CompletedCommand completed(const CLI::App& app, const std::vector<std::string>& before,
                           const std::vector<CompletedOption>& inherited) {
    CompletedCommand command;
    command.words = before;
    command.words.push_back(app.get_name());
    command.description = app.get_description();
    std::vector<CompletedOption> handed_down = inherited;
    for (const CLI::Option* option : app.get_options()) {
        const CompletedOption found = completed(*option);
        (found.names.empty() ? command.arguments : command.options).push_back(found);
        const bool about_itself = option == app.get_help_ptr() || option->get_single_name() == "version";
        if (app.get_parent() == nullptr && !about_itself) handed_down.push_back(found);
    }
    command.options.insert(command.options.end(), inherited.begin(), inherited.end());
    for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; })) {
        command.commands.push_back(completed(*below, command.words, handed_down));
    }
    return command;
}

// ---- bash: one table of the words that may follow each command, and a function that finds the command in the line

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

std::string bash_completion(const CompletedCommand& program) {
    std::string rows;
    add_row(rows, program);
    return "# Completion of duewheel for bash, made by `duewheel completion bash`.\n"
           "_duewheel_after() {\n    case $1 in\n" +
           rows + "    esac\n}\n" + kFunction;
}

// ---- zsh: one function for each command, with the descriptions of the help

// In single quotes, with a backslash before each of `special`.
std::string quoted(const std::string& text, const std::string& special) {
    std::string result;
    for (const char c : text) {
        if (special.find(c) != std::string::npos) result += '\\';
        result += c == '\'' ? "'\\''" : std::string(1, c);
    }
    return result;
}

std::string action_of(CompletedValue value) {
    if (value == CompletedValue::file) return "_files";
    return value == CompletedValue::directory ? "_path_files -/" : " ";
}

std::string value_spec(const CompletedOption& option) {
    return option.value == CompletedValue::none
               ? ""
               : ":" + quoted(option.value_name, "\\:") + ":" + action_of(option.value);
}

void add_function(std::string& functions, const CompletedCommand& command) {
    const std::string name = "_" + command.joined("_");
    std::string specs;
    for (const CompletedOption& option : command.options) {
        for (const std::string& each : option.names) {
            specs += " \\\n        '" + std::string(option.repeated ? "*" : "") + each + "[" +
                     quoted(option.description, "\\[]:") + "]" + value_spec(option) + "'";
        }
    }
    for (const CompletedOption& argument : command.arguments) {
        specs += " \\\n        '" + std::string(argument.repeated ? "*" : "") + value_spec(argument) + "'";
    }
    if (command.commands.empty()) {
        functions += name + "() {\n    _arguments -s" + specs + "\n}\n\n";
        return;
    }
    std::string described, cases;
    for (const CompletedCommand& below : command.commands) {
        const std::string& word = below.words.back();
        described += "                '" + word + ":" + quoted(below.description, "\\:") + "'\n";
        cases += "                " + word + ") " + name + "_" + word + " ;;\n";
    }
    functions += name + "() {\n    local context state line\n    local -a commands\n    _arguments -s -C" + specs +
                 " \\\n        '1:command:->command' '*::argument:->arguments'\n    case $state in\n"
                 "        command)\n            commands=(\n" +
                 described +
                 "            )\n            _describe command commands ;;\n        arguments)\n"
                 "            case $words[1] in\n" +
                 cases + "            esac ;;\n    esac\n}\n\n";
    for (const CompletedCommand& below : command.commands) add_function(functions, below);
}

std::string zsh_completion(const CompletedCommand& program) {
    std::string functions;
    add_function(functions, program);
    return "#compdef duewheel\n# Completion of duewheel for zsh, made by `duewheel completion zsh`.\n"
           "# Read with `source` it registers itself; found in $fpath it is the function _duewheel.\n\n" +
           functions +
           "if [[ $funcstack[1] == _duewheel ]]; then\n    _duewheel \"$@\"\nelse\n    compdef _duewheel "
           "duewheel\nfi\n";
}

// ---- fish: one line for each command and option, with the condition that the input line contains its command

std::string quoted(const std::string& text) {
    std::string result = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') result += '\\';
        result += c;
    }
    return result + "'";
}

std::string value_of(const CompletedOption& option) {
    if (option.value == CompletedValue::file) return " -r -F";
    if (option.value == CompletedValue::directory) return " -x -a '(__fish_complete_directories)'";
    return option.value == CompletedValue::other ? " -x" : "";
}

void add_lines(std::string& lines, std::string& known, const CompletedCommand& command) {
    const std::string start = "complete -c duewheel -n '__duewheel_at " + command.joined(" ") + "'";
    for (const CompletedCommand& below : command.commands) {
        known += " " + quoted(below.joined(" "));
        lines += start + " -a " + below.words.back() + " -d " + quoted(below.description) + "\n";
    }
    for (const CompletedOption& option : command.options) {
        lines += start;
        for (const std::string& name : option.names) {
            lines += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
        }
        lines += value_of(option) + " -d " + quoted(option.description) + "\n";
    }
    for (const CompletedOption& argument : command.arguments) {
        if (argument.value == CompletedValue::file) lines += start + " -F\n";
        if (argument.value == CompletedValue::directory) lines += start + " -a '(__fish_complete_directories)'\n";
    }
    for (const CompletedCommand& below : command.commands) add_lines(lines, known, below);
}

std::string fish_completion(const CompletedCommand& program) {
    std::string lines, known, valued;
    add_lines(lines, known, program);
    for (const CompletedOption& option : program.options) {
        if (option.value == CompletedValue::none) continue;
        for (const std::string& name : option.names) valued += " " + quoted(name);
    }
    return "# Completion of duewheel for fish, made by `duewheel completion fish`.\n"
           "function __duewheel_at\n    set -l command duewheel\n    set -l words (commandline -opc)\n"
           "    set -l value false\n    set -e words[1]\n    for word in $words\n        if $value\n"
           "            set value false\n            continue\n        end\n        switch $word\n            case" +
           valued +
           "\n                set value true\n        end\n        switch \"$command $word\"\n            case" +
           known +
           "\n                set command \"$command $word\"\n        end\n    end\n    test \"$command\" = \"$argv\"\n"
           "end\n\ncomplete -c duewheel -f\n" +
           lines;
}

// ---- the verbs

struct CompletionArguments {
    const CLI::App* program = nullptr;
};

template <std::string (*script_of)(const CompletedCommand&)>
int print(Session&, const CompletionArguments& arguments) {
    std::printf("%s", script_of(completed(*arguments.program, {}, {})).c_str());
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

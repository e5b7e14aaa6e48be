// Completion for zsh: one function for each command, with the descriptions of the help.
#include "completion_tree.h"

namespace duewheel {
namespace {

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

}  // namespace

std::string zsh_completion(const CompletedCommand& program) {
    std::string functions;
    add_function(functions, program);
    return "#compdef duewheel\n# Completion of duewheel for zsh, made by `duewheel completion zsh`.\n"
           "# Read with `source` it registers itself; found in $fpath it is the function _duewheel.\n\n" +
           functions +
           "if [[ $funcstack[1] == _duewheel ]]; then\n    _duewheel \"$@\"\nelse\n    compdef _duewheel "
           "duewheel\nfi\n";
}

}  // namespace duewheel

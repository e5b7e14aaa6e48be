// Completion for fish: one line for each command and option, with the condition that the input line contains its
// command.
#include "completion_tree.h"

namespace duewheel {
namespace {

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

}  // namespace

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

}  // namespace duewheel

// The commands of a program, for shell completion: read from the parser's tree, so that a new option is completed
// without further code.
//
// The kind of a value follows from the word that the help shows for it: DIR and BACKUP are directories, FILE is a file.
// Other values are not completed; shells that support it show the word instead.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace duewheel {

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

CompletedCommand completed_commands(const CLI::App& program);

std::string bash_completion(const CompletedCommand& program);
std::string zsh_completion(const CompletedCommand& program);
std::string fish_completion(const CompletedCommand& program);

}  // namespace duewheel

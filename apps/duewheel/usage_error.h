// Explains an error of the command line, and suggests what was most likely meant.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace duewheel {

struct UsageError {
    std::string what;          // a sentence
    std::string help_command;  // shows the correct usage: "duewheel queue --help"
};

// `words` are the arguments after the program's name, `error` is the parser's message.
UsageError explain_usage_error(const CLI::App& program, const CLI::Error& error, const std::vector<std::string>& words);

}  // namespace duewheel

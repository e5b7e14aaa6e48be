// What is wrong with a command line, and what was most likely meant.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace duewheel {

struct UsageError {
    std::string what;          // a sentence
    std::string help_command;  // prints what would be right: "duewheel queue --help"
};

// `words` are the arguments behind the program's name, of which the parser has said `error`.
UsageError explain_usage_error(const CLI::App& program, const CLI::Error& error, const std::vector<std::string>& words);

}  // namespace duewheel

// What the daemon is told at its start: flags, environment, and the file that they name, as one Configuration.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "configuration/configuration.h"

namespace duewheel {

struct CommandLine {
    // Set where there is nothing to run: after --help, --version, --print-config, or an error, which has been told.
    std::optional<int> exit_code;
    std::string configuration_file;  // empty: none
    Configuration configuration;
};

// Writes to standard output what was asked for, and errors to standard error, a line each.
CommandLine read_command_line(int argc, char** argv);

// What a process ends with that refuses to start: 2 where no other state of the machine would make it right, else 1.
int exit_code_of(const Error& refusal);

// Where the setting was given that the server refused to start with, such as "duewheel.toml:3:1"; empty where it was
// another reason, or a default.
std::string place_of(const Configuration& configuration, const Error& refusal);

}  // namespace duewheel

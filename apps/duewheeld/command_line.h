// Reads the settings of the daemon from flags, environment and configuration file into one Configuration.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "configuration/configuration.h"

namespace duewheel {

struct CommandLine {
    // Set if the daemon must not run: after --help, --version, --print-config, or an error, which has been printed.
    std::optional<int> exit_code;
    std::string configuration_file;  // empty: none
    Configuration configuration;
};

// Prints the requested output on standard output, and errors on standard error, one per line.
// `arguments` are those behind the name of the program.
CommandLine read_command_line(const std::vector<std::string>& arguments);

// The exit code of a process that refuses to start: 2 if its configuration is wrong whatever the state of the machine,
// 65 if the data directory cannot be used until an operator acts, otherwise 1: a later start may succeed. The systemd
// unit does not repeat a start that ended with 2 or 65.
int exit_code_of(const Error& refusal);

// The origin of the setting because of which the server refused to start, such as "duewheel.toml:3:1"; empty if it was
// a default, or for any other reason.
std::string place_of(const Configuration& configuration, const Error& refusal);

}  // namespace duewheel

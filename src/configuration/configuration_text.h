// Prints the table of settings: as the configuration in force, and for the documentation.
#pragma once

#include <string>

#include "configuration/configuration.h"

namespace duewheel {

// A configuration file with every setting as it is in force, its meaning, and its origin. Passed to --config, it gives
// the same configuration.
std::string settings_in_force(const Configuration& configuration);

// docs/duewheel.toml: a configuration file with every setting at its default, commented out.
std::string example_file();

// The tables of docs/configuration.md, one per section.
std::string settings_tables();

// "Open connections; further clients wait. (10000; 1 to 1000000)": for the daemon's help.
std::string help_of(const Setting& setting);

}  // namespace duewheel

// The table of settings as pages: for the operator who asks what is in force, and for the documentation.
#pragma once

#include <string>

#include "configuration/configuration.h"

namespace duewheel {

// A configuration file with every setting as it is in force, what it means, and where it comes from. It can be given
// to --config, and then the same is in force.
std::string settings_in_force(const Configuration& configuration);

// docs/duewheel.toml: a configuration file with every setting at its default, commented out.
std::string example_file();

// The tables of docs/configuration.md, one a section.
std::string settings_tables();

// "Open connections; further clients wait. (10000; 1 to 1000000)": for the daemon's help.
std::string help_of(const Setting& setting);

}  // namespace duewheel

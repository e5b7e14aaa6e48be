// The certificate authorities that webhooks trust.
#pragma once

#include <string>

#include "base/status.h"

namespace duewheel {

// Whether the file contains PEM certificates. Code bad_trusted_file. Reads the file.
Status check_trusted_file(const std::string& path);

}  // namespace duewheel

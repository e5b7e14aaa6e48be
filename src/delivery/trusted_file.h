// Certificates of those whom webhooks trust to say who others are.
#pragma once

#include <string>

#include "base/status.h"

namespace duewheel {

// Whether the file holds certificates in PEM. Code bad_trusted_file. Reads the file.
Status check_trusted_file(const std::string& path);

}  // namespace duewheel

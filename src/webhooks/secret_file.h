// Reads a file that holds one secret, such as a key.
#pragma once

#include <string>
#include <string_view>

#include "base/secret.h"
#include "base/status.h"

namespace duewheel {

// The content of the file without line ends behind it, up to 512 bytes. Only the owner and the group of the file may
// have read permission, and only the owner may have write permission: 0600, 0400, 0640 and 0440 are fine, and so is a
// credential of systemd. `what` names the secret in the error ("the webhook secret billing"), `code` is the error's
// code; the error never shows the content. Reads the disk.
Result<Secret> read_secret_file(const std::string& path, const std::string& what, ErrorCode code);

}  // namespace duewheel

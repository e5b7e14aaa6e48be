// Small files that settings name: certificates, keys, and properties with passwords.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/secret.h"
#include "base/status.h"

namespace duewheel {

// A file, as errors name it.
struct SettingFile {
    ErrorCode code;
    std::string_view setting;
    const std::string& path;

    Error error(std::string_view what) const {
        return {code, path + ", the setting " + std::string(setting) + ", " + std::string(what)};
    }
};

// The content of the file. `secret` names what in it is secret, such as "key": then only the owner and the group of the
// file may read it. It is empty if nothing is secret. `too_large` is the error of a file with more than `bytes_max`
// bytes. Blocks on the disk.
Result<Secret> read_setting_file(const SettingFile& file, std::size_t bytes_max, std::string_view secret,
                                 std::string_view too_large);

}  // namespace duewheel

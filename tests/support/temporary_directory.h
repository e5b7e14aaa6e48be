// A fresh directory on the real disk for one test, removed with all that is in it at the end.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include <sys/stat.h>

namespace duewheel {

class TemporaryDirectory {
  public:
    // Aborts when the directory cannot be made: no test could say anything without it.
    TemporaryDirectory() : path_((std::filesystem::temp_directory_path() / "duewheel-test-XXXXXX").string()) {
        if (::mkdtemp(path_.data()) == nullptr) std::abort();
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    ~TemporaryDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    const std::string& path() const { return path_; }
    std::string at(const std::string& name) const { return path_ + "/" + name; }
    // Writes a file with this mode, and returns its path.
    std::string write(const std::string& name, std::string_view text, ::mode_t mode = 0600) const {
        std::ofstream(at(name), std::ios::binary) << text;
        if (::chmod(at(name).c_str(), mode) != 0) std::abort();
        return at(name);
    }

  private:
    std::string path_;
};

}  // namespace duewheel

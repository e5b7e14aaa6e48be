// A real disk that is small, for tests that fill it: a file system in memory of its own, mounted on a directory that is
// removed with it. The mount is seen by this process alone, so nothing is left behind however the test ends. It takes
// the right to mount; where that is missing it says so, and the test is skipped.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include <sched.h>
#include <sys/mount.h>

#include "support/temporary_directory.h"

namespace duewheel {

class SmallDisk {
  public:
    explicit SmallDisk(std::uint64_t bytes) {
        const std::string size = "size=" + std::to_string(bytes);
        const bool alone =
            ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
        mounted_ = alone && ::mount("small", directory_.path().c_str(), "tmpfs", 0, size.c_str()) == 0;
        if (!mounted_) missing_ = std::string("a small disk cannot be mounted here: ") + std::strerror(errno);
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;
    ~SmallDisk() {
        if (mounted_) ::umount2(directory_.path().c_str(), MNT_DETACH);
    }

    std::string path() const { return directory_.path(); }
    std::string at(const std::string& name) const { return directory_.at(name); }
    // Why there is none; empty where there is.
    const std::string& missing() const { return missing_; }

  private:
    TemporaryDirectory directory_;
    std::string missing_;
    bool mounted_ = false;
};

}  // namespace duewheel

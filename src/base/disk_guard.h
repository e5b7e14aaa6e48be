// A thread that must never wait for the disk says so once, and every read, write and sync on it from then on is a bug
// that asserts. The loop's thread of the server is such a one.
#pragma once

#include <cassert>

namespace duewheel {

inline thread_local bool disk_is_forbidden = false;

inline void assert_disk_is_allowed() {
    assert(!disk_is_forbidden && "this thread must not wait for the disk");
}

// While it lives, its thread must not touch the disk.
class DiskForbidden {
  public:
    DiskForbidden() { disk_is_forbidden = true; }
    ~DiskForbidden() { disk_is_forbidden = false; }
    DiskForbidden(const DiskForbidden&) = delete;
    DiskForbidden& operator=(const DiskForbidden&) = delete;
};

}  // namespace duewheel

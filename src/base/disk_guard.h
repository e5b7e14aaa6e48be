// Detects disk access on a thread that must never wait for the disk, such as the server's event loop. While a guard
// exists, every read, write and sync on its thread fails an assertion.
#pragma once

#include <cassert>

namespace duewheel {

inline thread_local bool disk_is_forbidden = false;

inline void assert_disk_is_allowed() {
    assert(!disk_is_forbidden && "this thread must not wait for the disk");
}

// While it lives, its thread must not access the disk.
class DiskForbidden {
  public:
    DiskForbidden() { disk_is_forbidden = true; }
    ~DiskForbidden() { disk_is_forbidden = false; }
    DiskForbidden(const DiskForbidden&) = delete;
    DiskForbidden& operator=(const DiskForbidden&) = delete;
};

}  // namespace duewheel

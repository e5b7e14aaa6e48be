// What an operator does about a disk that could not be read or written, for the sentence with which the process ends.
#pragma once

#include <string>

#include "base/error_codes.h"
#include "base/status.h"

namespace duewheel {

// The error, and for `io_error` what to do about it.
inline Error with_disk_advice(Error error) {
    if (error.code != "io_error"_code) return error;
    if (error.message.ends_with('.')) error.message.pop_back();
    error.message +=
        ". Nothing that was acknowledged is lost. Look for errors of the disk in the log of the kernel (dmesg), "
        "correct "
        "its cause, then start the server again";
    return error;
}

}  // namespace duewheel

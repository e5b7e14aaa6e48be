// The whole content of a file.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/file.h"
#include "base/status.h"

namespace duewheel {

// As much of it as is there: a file that shrinks meanwhile gives less. For small files; memory is the size of the file.
inline Result<std::string> read_file(const File& file) {
    const Result<std::uint64_t> size = file.size();
    if (!size) return size.error();
    std::string content(*size, '\0');
    const Result<std::size_t> got = file.read_at(0, std::as_writable_bytes(std::span(content)));
    if (!got) return got.error();
    content.resize(*got);
    return content;
}

}  // namespace duewheel

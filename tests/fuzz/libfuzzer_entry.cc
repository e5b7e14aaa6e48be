// The entry that libFuzzer calls, with bytes that it made up.
#include <cstddef>
#include <cstdint>

#include "fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // Null where there are no bytes, which no text of ours is.
    duewheel::fuzz(size == 0 ? std::string_view("", 0) : std::string_view(reinterpret_cast<const char*>(data), size));
    return 0;
}

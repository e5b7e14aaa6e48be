// The entry that libFuzzer calls, with bytes that it made up. DUEWHEEL_FUZZ_TARGET is the namespace of the program's
// target.
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace duewheel::DUEWHEEL_FUZZ_TARGET {
void fuzz(std::string_view input);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // Null where there are no bytes, which no text of ours is.
    duewheel::DUEWHEEL_FUZZ_TARGET::fuzz(size == 0 ? std::string_view("", 0)
                                                   : std::string_view(reinterpret_cast<const char*>(data), size));
    return 0;
}

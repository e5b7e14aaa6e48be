// Reads the bytes of an input as a script: a sequence of small choices, numbers and texts.
//
// Past the end everything is 0 and empty, so that every input is a script and a shorter one does less. Choices take one
// byte, so that one changed byte is one changed choice, from which a fuzzer can learn.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace duewheel {

class InputScript {
  public:
    explicit InputScript(std::string_view bytes) : rest_(bytes) {}

    bool at_end() const { return rest_.empty(); }

    std::uint8_t byte() {
        if (rest_.empty()) return 0;
        const auto taken = static_cast<std::uint8_t>(rest_.front());
        rest_.remove_prefix(1);
        return taken;
    }
    // 0 to `n` - 1, for n of 1 to 256.
    unsigned below(unsigned n) { return byte() % n; }
    bool chance(unsigned one_in) { return below(one_in) == 1; }
    template <class T>
    T one_of(std::initializer_list<T> choices) {
        return choices.begin()[below(static_cast<unsigned>(choices.size()))];
    }
    // Eight bytes, the least first.
    std::uint64_t number() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 8) value |= std::uint64_t{byte()} << shift;
        return value;
    }
    // As many bytes as the next one says, at most `bytes_max`.
    std::string_view text(std::size_t bytes_max = 255) {
        const std::size_t size = std::min<std::size_t>({byte(), bytes_max, rest_.size()});
        const std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }
    std::string_view rest() const { return rest_; }

  private:
    std::string_view rest_;
};

}  // namespace duewheel

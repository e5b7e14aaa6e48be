// The digest that reveals a truncated or changed file: 64-bit XXH3 of bytes that come piece by piece. It does not
// protect against tampering.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace duewheel {

class StreamDigest {
  public:
    StreamDigest();
    ~StreamDigest();

    void add(std::string_view bytes);
    // 16 hexadecimal digits, of all that came so far: what `xxhsum -H3` prints.
    std::string text() const;

  private:
    struct State;
    const std::unique_ptr<State> state_;
};

}  // namespace duewheel

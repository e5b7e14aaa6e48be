// The digest by which a file that was cut or changed is seen: 64-bit XXH3 of bytes that come piece by piece. It is no
// protection against anybody who means harm.
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

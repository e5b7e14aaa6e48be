// Bytes that nobody may read but who needs them: a key, a password. There is no way to print one, and its bytes are
// overwritten when it goes. What it was made from is the giver's to overwrite.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace duewheel {

class Secret {
  public:
    Secret() = default;
    explicit Secret(std::string bytes) : bytes_(std::move(bytes)) {}
    Secret(const Secret&) = default;
    Secret(Secret&& other) noexcept : bytes_(std::move(other.bytes_)) { other.wipe(); }
    Secret& operator=(Secret other) noexcept {
        bytes_.swap(other.bytes_);
        return *this;
    }
    ~Secret() { wipe(); }

    // For the call that needs it, and for nothing that keeps it.
    std::string_view reveal() const { return bytes_; }
    bool empty() const { return bytes_.empty(); }

  private:
    // Through a volatile pointer, because nobody reads the bytes any more and a compiler would leave it out.
    void wipe() {
        bytes_.resize(bytes_.capacity());
        volatile char* const at = bytes_.data();
        for (std::size_t i = 0; i < bytes_.size(); ++i) at[i] = 0;
        bytes_.clear();
    }

    std::string bytes_;
};

}  // namespace duewheel

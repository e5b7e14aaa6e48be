// Bytes that nobody may read but who needs them: a key, a password. There is no way to print one, and its bytes are
// overwritten when it goes. What it was made from is the giver's to overwrite.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <string.h>

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
    void wipe() {
        bytes_.resize(bytes_.capacity());
        explicit_bzero(bytes_.data(), bytes_.size());
        bytes_.clear();
    }

    std::string bytes_;
};

}  // namespace duewheel

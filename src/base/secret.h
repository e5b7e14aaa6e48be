// Bytes that must stay secret, such as a key or a password. There is no way to print them, and they are overwritten on
// destruction. The caller overwrites the source.
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

    // Only for the call that needs the bytes; do not store them.
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

#include "base/text_ends.h"

#include <algorithm>
#include <cassert>

#include "shared/utf8.h"

namespace duewheel {
namespace {

constexpr std::size_t kLetterBytesMax = 4;

// The longest suffix of up to `bytes_max` bytes that begins with a character.
std::string_view last_of(std::string_view text, std::size_t bytes_max) {
    if (text.size() <= bytes_max) return text;
    std::size_t at = text.size() - bytes_max;
    const std::size_t latest = std::min(at + kLetterBytesMax, text.size());
    while (at < latest && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) ++at;
    return text.substr(at);
}

}  // namespace

std::string both_ends(std::string_view text, std::size_t bytes_max) {
    constexpr std::size_t kSmallest = 16;
    assert(bytes_max >= kSmallest);
    static_cast<void>(kSmallest);
    if (text.size() <= bytes_max) return std::string(text);
    const std::size_t kept = bytes_max - kOmission.size();
    const std::string_view beginning = cut_utf8(text, kept / 4);
    return std::string(beginning).append(kOmission).append(last_of(text, kept - kept / 4));
}

// Until both are full, the text is in `beginning_` alone. Then `end_` has up to twice what is kept of it, so that few
// of the appends move bytes.
void TextEnds::append(std::string_view part) {
    if (end_.empty()) {
        beginning_ += part;
        if (beginning_.size() <= 2 * bytes_each_) return;
        end_ = beginning_.substr(beginning_.size() - bytes_each_);
        beginning_.resize(bytes_each_ + kLetterBytesMax);
        return;
    }
    end_ += part;
    if (end_.size() > 2 * bytes_each_) end_.erase(0, end_.size() - bytes_each_);
}

std::string_view TextEnds::beginning() const {
    return end_.empty() ? std::string_view(beginning_) : cut_utf8(beginning_, bytes_each_);
}

std::string_view TextEnds::end() const {
    return last_of(end_, bytes_each_);
}

std::string TextEnds::text() const {
    if (end_.empty()) return beginning_;
    return std::string(beginning()).append(kOmission).append(end());
}

}  // namespace duewheel

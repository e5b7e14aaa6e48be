// The beginning and the end of a long text, where only a part of it is kept. Both matter in the report of a failure: a
// compiler tells the first error first, and a traceback its exception last.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace duewheel {

// Stands for what is omitted between the two.
inline constexpr std::string_view kOmission = " … ";

// `text`, which must be UTF-8, if it has at most `bytes_max` bytes. Otherwise about a quarter of `bytes_max` from its
// beginning, kOmission, and the rest from its end, whole characters. `bytes_max` is at least 16. O(bytes_max).
std::string both_ends(std::string_view text, std::size_t bytes_max);

// The same for bytes that come in parts, in bounded memory. For one thread.
class TextEnds {
  public:
    // `bytes_each`: of the beginning and of the end, at least.
    explicit TextEnds(std::size_t bytes_each) : bytes_each_(bytes_each) {}

    void append(std::string_view part);
    bool empty() const { return beginning_.empty(); }
    // All of it, while end() is empty. Both end between characters, if the text is UTF-8.
    std::string_view beginning() const;
    // The last `bytes_each`, if something is omitted.
    std::string_view end() const;
    // All of it, or both with kOmission in between.
    std::string text() const;

  private:
    std::size_t bytes_each_;
    std::string beginning_;
    std::string end_;
};

}  // namespace duewheel

// The Date of an answer, as RFC 9110 (5.6.7) has it: "Sun, 06 Nov 1994 08:49:37 GMT".
#pragma once

#include <string>
#include <string_view>

#include "base/instant.h"

namespace duewheel {

// Remembers the text of the second that it was asked for last: thousands of answers go out in one. Single-threaded.
class HttpDate {
  public:
    // The text stands until the next call. Fractions of a second are cut off. From the year 0 to 9999.
    std::string_view at(InstantMs now_ms);

  private:
    InstantMs second_ = kNoInstant;
    std::string text_;
};

}  // namespace duewheel

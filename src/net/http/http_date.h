// The Date of a response, as in RFC 9110 (5.6.7): "Sun, 06 Nov 1994 08:49:37 GMT".
#pragma once

#include <string>
#include <string_view>

#include "shared/instant.h"

namespace duewheel {

// Caches the text of the last second, because thousands of responses are sent in one. Single-threaded.
class HttpDate {
  public:
    // The text is valid until the next call. Fractions of a second are truncated. From the year 0 to 9999.
    std::string_view at(InstantMs now_ms);

  private:
    InstantMs second_ = kNoInstant;
    std::string text_;
};

}  // namespace duewheel

// The parameters behind a question mark, read as strictly as the members of a JSON body: each is known, has a value,
// and is given once. A spelling mistake must not silently widen a question.
//
// Texts are decoded as HTML forms are: %XX, and a plus is a space. So the plus of an offset is written %2B.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "net/http_target.h"

namespace duewheel {

class QueryRequest {
  public:
    // `query` is what stands behind the question mark, as sent. Codes: bad_parameter (an escape that is none, no value,
    // an empty pair), unknown_parameter, duplicate_parameter; the field is the parameter's name.
    static Result<QueryRequest> parse(std::string_view query, std::initializer_list<std::string_view> known);

    // Nothing where the parameter is not given. The views live as long as this.
    std::optional<std::string_view> text(std::string_view name) const;
    // RFC 3339, or milliseconds since 1970; code bad_instant.
    Result<std::optional<std::int64_t>> instant_ms(std::string_view name) const;
    // A whole number from `least` to `max`; code out_of_range.
    Result<std::optional<std::int64_t>> integer(std::string_view name, std::int64_t least, std::int64_t most) const;

  private:
    std::vector<QueryParameter> parameters_;
};

}  // namespace duewheel

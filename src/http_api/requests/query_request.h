// Query parameters, checked as strictly as the members of a JSON body: each is known, has a value, and appears once. A
// typing error must not silently widen a query.
//
// Texts are decoded like HTML forms: %XX, and a plus is a space. So the plus of an offset is written %2B.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "net/http/http_target.h"

namespace duewheel {

class QueryRequest {
  public:
    // `query` is the part after the question mark, as sent. Codes: bad_parameter (an invalid escape, no value, an empty
    // pair), unknown_parameter, duplicate_parameter; the field is the name of the parameter.
    static Result<QueryRequest> parse(std::string_view query, std::initializer_list<std::string_view> known);

    // Nothing if the parameter is absent. The views are valid as long as this.
    std::optional<std::string_view> text(std::string_view name) const;
    // RFC 3339, or milliseconds since 1970; code bad_instant.
    Result<std::optional<std::int64_t>> instant_ms(std::string_view name) const;
    // `true` or `false`, which is also meant if the parameter is absent; code bad_parameter.
    Result<bool> flag(std::string_view name) const;
    // With a unit, such as "30s"; codes bad_duration, negative_duration.
    Result<std::optional<std::int64_t>> duration_ms(std::string_view name) const;
    // An integer from `least` to `max`; code out_of_range.
    Result<std::optional<std::int64_t>> integer(std::string_view name, std::int64_t least, std::int64_t most) const;

  private:
    std::vector<QueryParameter> parameters_;
};

}  // namespace duewheel

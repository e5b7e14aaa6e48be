// Reads a JSON request body strictly: one object, only the members that the call knows, each of the right type, none
// twice. Whatever is wrong is named: the member, what was found, what would be right.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "engine/command.h"

namespace duewheel {

// A member's value lives as long as the request.
class JsonRequest {
  public:
    // Codes: bad_utf8, bad_json (with line and column), too_deep, duplicate_member, wrong_type (not an object). An
    // empty body is an empty object.
    static Result<JsonRequest> parse(std::string_view body);

    JsonRequest(JsonRequest&&) noexcept;
    JsonRequest& operator=(JsonRequest&&) noexcept;
    ~JsonRequest();

    // `unknown_member`, naming the nearest one that is known.
    Status only(std::initializer_list<std::string_view> known) const;

    bool has(std::string_view member) const;
    // Each: nothing where the member is absent; `wrong_type` where it is of another type.
    Result<std::optional<std::string_view>> text(std::string_view member) const;
    // `out_of_range` beyond [least, most].
    Result<std::optional<std::int64_t>> integer(std::string_view member, std::int64_t least, std::int64_t most) const;
    // "10m", ISO 8601, or milliseconds as a number; never negative.
    Result<std::optional<std::int64_t>> duration_ms(std::string_view member) const;
    // RFC 3339, or milliseconds since 1970 as a number.
    Result<std::optional<std::int64_t>> instant_ms(std::string_view member) const;
    // An object whose values are all texts.
    Result<std::vector<std::pair<std::string_view, std::string_view>>> texts(std::string_view member) const;

  private:
    struct Parts;
    explicit JsonRequest(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

bool is_utf8(std::string_view text);

}  // namespace duewheel

#include "http_api/requests/idempotency_key.h"

#include <algorithm>
#include <optional>

#include "base/error_codes.h"
#include "shared/utf8.h"

namespace duewheel {

Status read_key(std::string_view text, std::string_view name, const HttpApiOptions& options, std::string& into) {
    const bool fits = !text.empty() && text.size() <= options.key_bytes_max && is_utf8(text) &&
                      std::none_of(text.begin(), text.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
    if (!fits) {
        return Error{"bad_key"_code,
                     "an idempotency key must have 1 to " + std::to_string(options.key_bytes_max) +
                         " bytes of UTF-8 without control characters, such as a random UUID",
                     std::string(name)};
    }
    into = text;
    return {};
}

Status read_key_member(const JsonRequest& json, const HttpApiOptions& options, std::string& into) {
    const Result<std::optional<std::string_view>> key = json.text("key");
    if (!key) return key.error();
    if (!*key) return {};
    if (!into.empty() && into != **key) {
        return Error{"conflicting_members"_code, "`key` and the field Idempotency-Key differ: give one of them", "key"};
    }
    return read_key(**key, "key", options, into);
}

}  // namespace duewheel

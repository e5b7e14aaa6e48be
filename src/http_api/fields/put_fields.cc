#include "http_api/fields/put_fields.h"

#include <string>

#include "base/error_codes.h"

namespace duewheel {
namespace {

// In a header field the key may be in quotes, as in the drafts for Idempotency-Key: they are not part of the key.
std::string_view without_quotes(std::string_view text) {
    const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
    return quoted ? text.substr(1, text.size() - 2) : text;
}

bool begins_ignoring_case(std::string_view text, std::string_view beginning) {
    return equal_ignoring_case(text.substr(0, beginning.size()), beginning);
}

Error unknown_field(std::string_view name) {
    const std::string shown(name.substr(0, 64));
    return {"unknown_member"_code,
            "`" + shown +
                "` is unknown; a raw body takes Duewheel-Delay or Duewheel-Due: send a JSON object to give other "
                "members",
            shown};
}

}  // namespace

Result<PutFields> PutFields::read(const HttpRequest& request) {
    PutFields fields;
    for (const HttpField& field : request.fields) {
        std::optional<std::string_view>* value = nullptr;
        if (equal_ignoring_case(field.name, "Content-Type")) {
            value = &fields.content_type;
        } else if (equal_ignoring_case(field.name, "Idempotency-Key")) {
            value = &fields.key;
        } else if (begins_ignoring_case(field.name, "Duewheel-")) {
            const std::string_view name = field.name.substr(9);
            if (equal_ignoring_case(name, "Delay")) value = &fields.delay;
            if (equal_ignoring_case(name, "Due")) value = &fields.due;
            if (value == nullptr) return unknown_field(field.name);
        } else if (begins_ignoring_case(field.name, "X-Duewheel-")) {
            return unknown_field(field.name);
        }
        if (value == nullptr) continue;
        if (*value) {
            return Error{"duplicate_member"_code,
                         "the field " + std::string(field.name) + " is given twice: give it once",
                         std::string(field.name)};
        }
        *value = value == &fields.key ? without_quotes(field.value) : std::string_view(field.value);
    }
    return fields;
}

}  // namespace duewheel

#include "http_api/requests/repeat_request.h"

#include <utility>

#include "http_api/fields/field_reader.h"
#include "resource/repeat_fields.h"

namespace duewheel {

Result<std::optional<RepeatChoice>> read_repeat(const JsonRequest& request) {
    const Result<std::optional<JsonRequest>> object = request.object("repeat");
    if (!object) return object.error();
    if (!*object) return std::optional<RepeatChoice>();
    RepeatChoice choice;
    Status read = read_fields(**object, fields_of<RepeatChoice>(), &choice, "repeat.");
    if (!read) return std::move(read).error();
    return std::optional<RepeatChoice>(choice);
}

}  // namespace duewheel

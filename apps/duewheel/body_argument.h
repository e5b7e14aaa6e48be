// The BODY of a message as given on the command line: the text itself, "-" for standard input, or "@file" for the
// content of a file.
#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <boost/json/object.hpp>

#include "base/status.h"

namespace duewheel {

// More than any server accepts, so that a mistake such as "@/dev/zero" ends.
inline constexpr std::size_t kBodyBytesMax = std::size_t{64} << 20;

// Codes: unreadable_body, body_too_large.
Result<std::string> read_body_argument(const std::string& argument);

// BODY with --json-body and --content-type, for each verb that sets the content of a message.
struct BodyArgument {
    std::string text;  // as given on the command line
    bool is_json = false;
    std::optional<std::string> content_type;

    const CLI::Option* option = nullptr;

    void add_to(CLI::App& verb, const char* help);
    // True also for an empty BODY.
    bool is_given() const { return option->count() != 0; }
    // Adds `body` if the bytes are text, `body_base64` if they are not, and `content_type`. JSON is also sent as text,
    // which preserves its numbers as written. Codes: as read_body_argument(); bad_json.
    Status put_into(boost::json::object& request) const;
};

}  // namespace duewheel

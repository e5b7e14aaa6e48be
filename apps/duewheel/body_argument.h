// The BODY of a message as it is named on the command line: the text itself, "-" for standard input, "@file" for a
// file's content.
#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <boost/json/object.hpp>

#include "base/status.h"

namespace duewheel {

// More than any server takes; a mistake such as "@/dev/zero" ends here.
inline constexpr std::size_t kBodyBytesMax = std::size_t{64} << 20;

// Codes: unreadable_body, body_too_large.
Result<std::string> read_body_argument(const std::string& argument);

// BODY with --json-body and --content-type, of each verb that gives a message its content.
struct BodyArgument {
    std::string text;  // as it is named on the command line
    bool is_json = false;
    std::optional<std::string> content_type;

    const CLI::Option* option = nullptr;

    void add_to(CLI::App& verb, const char* help);
    // An empty BODY is one too.
    bool is_given() const { return option->count() != 0; }
    // Adds what is given: `body` where the bytes are text, `body_base64` where they are not, and `content_type`. JSON
    // goes as a text too, which keeps its numbers as they are written. Codes: as read_body_argument(); bad_json.
    Status put_into(boost::json::object& request) const;
};

}  // namespace duewheel

// What a client does about an error code: the texts of docs/errors.md, and the page of them that the server has if the
// documentation is not installed.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace duewheel {

struct ErrorAdvice {
    std::string_view code;
    std::string_view text;  // sentences in Markdown: code spans, and links relative to docs/
};

// One for each code that a client can receive, in the order of kErrorCodes.
std::span<const ErrorAdvice> error_advice();

// Whether the same request can be sent again after an error of this status: the end of "Retry: ...", in Markdown.
std::string_view retry_text(int status);

// The path of the page on the codes, and in it the place of each: "/docs/errors#queue_full". The `type` of a problem
// document.
std::string error_page_path(std::string_view code);

// An HTML page with all of them, for /docs and /docs/errors. Made at the first call.
const std::string& error_page();

}  // namespace duewheel

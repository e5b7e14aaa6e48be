#include "http_api/fields/field_syntax.h"

#include <algorithm>

namespace duewheel {
namespace {

constexpr std::size_t kTraceparentBytesMax = 128;

bool is_printable_ascii(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

bool is_token(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
    });
}

bool is_header_value(std::string_view text) {
    return std::none_of(text.begin(), text.end(),
                        [](char c) { return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f'; });
}

bool is_media_type(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos || text.size() > kMediaTypeBytesMax || !is_printable_ascii(text)) return false;
    const std::string_view subtype = text.substr(slash + 1, text.find_first_of("; ", slash) - slash - 1);
    return is_token(text.substr(0, slash)) && is_token(subtype);
}

std::string_view essence(std::string_view media_type) {
    const std::string_view media = media_type.substr(0, media_type.find(';'));
    return media.substr(0, media.find_last_not_of(" \t") + 1);
}

bool is_json(const HttpRequest& request) {
    const std::optional<std::string_view> type = request.header("Content-Type");
    return !type || equal_ignoring_case(essence(*type), "application/json");
}

bool is_traceparent(std::string_view text) {
    constexpr std::string_view kShape = "xx-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxx-xx";
    if (text.size() < kShape.size() || text.size() > kTraceparentBytesMax || !is_printable_ascii(text)) return false;
    for (std::size_t i = 0; i < kShape.size(); ++i) {
        const char c = text[i];
        const bool fits = kShape[i] == '-' ? c == '-' : (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        if (!fits) return false;
    }
    const std::string_view version = text.substr(0, 2);
    if (version == "ff" || (version == "00" && text.size() != kShape.size())) return false;
    if (text.size() > kShape.size() && text[kShape.size()] != '-') return false;
    const auto is_zero = [](std::string_view id) { return id.find_first_not_of('0') == std::string_view::npos; };
    return !is_zero(text.substr(3, 32)) && !is_zero(text.substr(36, 16));
}

std::string_view traceparent_of(const HttpRequest& request) {
    std::string_view found;
    bool seen = false;
    for (const HttpField& field : request.fields) {
        if (!equal_ignoring_case(field.name, "traceparent")) continue;
        if (seen) return {};
        seen = true;
        if (is_traceparent(field.value)) found = field.value;
    }
    return found;
}

}  // namespace duewheel

#include "net/http/http_target.h"

#include <algorithm>
#include <utility>

#include "base/error_codes.h"
#include "base/hex.h"

namespace duewheel {
namespace {

bool is_unreserved(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_' || c == '~';
}

Result<std::string> decode_form_text(std::string_view text) {
    std::string plain(text);
    std::replace(plain.begin(), plain.end(), '+', ' ');
    return percent_decode(plain);
}

}  // namespace

void split_path(std::string_view path, std::vector<std::string_view>& into) {
    into.clear();
    if (!path.empty()) path.remove_prefix(1);
    for (;;) {
        const auto slash = path.find('/');
        into.push_back(path.substr(0, slash));
        if (slash == std::string_view::npos) return;
        path.remove_prefix(slash + 1);
    }
}

Result<std::string> percent_decode(std::string_view text) {
    std::string decoded;
    decoded.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            decoded += text[i];
            continue;
        }
        const int high = i + 1 < text.size() ? hex_digit_value(text[i + 1]) : -1;
        const int low = i + 2 < text.size() ? hex_digit_value(text[i + 2]) : -1;
        if (high < 0 || low < 0) {
            return Error{"bad_request"_code,
                         "The URL contains a '%' that is not followed by two hexadecimal digits; write a percent sign "
                         "itself as %25.",
                         ""};
        }
        decoded += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return decoded;
}

std::string percent_encode(std::string_view text) {
    constexpr char kDigits[] = "0123456789ABCDEF";
    std::string encoded;
    encoded.reserve(text.size());
    for (const char c : text) {
        if (is_unreserved(c)) {
            encoded += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
    return encoded;
}

Result<std::vector<QueryParameter>> parse_query(std::string_view query) {
    std::vector<QueryParameter> parameters;
    while (!query.empty()) {
        const auto end = std::min(query.find('&'), query.size());
        const std::string_view pair = query.substr(0, end);
        query.remove_prefix(std::min(end + 1, query.size()));
        if (pair.empty()) continue;
        const auto equals = std::min(pair.find('='), pair.size());
        auto name = decode_form_text(pair.substr(0, equals));
        if (!name) return std::move(name).error();
        auto value = decode_form_text(pair.substr(std::min(equals + 1, pair.size())));
        if (!value) {
            Error error = std::move(value).error();
            error.field = *name;
            return error;
        }
        parameters.push_back({*std::move(name), *std::move(value)});
    }
    return parameters;
}

}  // namespace duewheel

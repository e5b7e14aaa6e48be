#include "http_api/fields/name_rule.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>

#include <utf8proc.h>

#include "net/http/http_target.h"
#include "shared/utf8.h"

namespace duewheel {
namespace {

constexpr std::array<bool, 128> kAsciiNameLetters = [] {
    std::array<bool, 128> set{};
    for (const char c : std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+/;$()-")) {
        set[static_cast<unsigned char>(c)] = true;
    }
    return set;
}();

bool is_ascii_name_letter(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x80 && kAsciiNameLetters[byte];
}

bool is_mark(utf8proc_int32_t letter) {
    const utf8proc_category_t category = utf8proc_category(letter);
    return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC;
}

// Beyond ASCII: the general categories L, Mn, Mc and Nd. Invisible letters and marks, such as fillers and variation
// selectors, would allow names that look alike.
bool is_name_letter(utf8proc_int32_t letter) {
    if (letter < 0x80) return is_ascii_name_letter(static_cast<char>(letter));
    const utf8proc_category_t category = utf8proc_category(letter);
    const bool is_letter = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
    return (is_letter || is_mark(letter) || category == UTF8PROC_CATEGORY_ND) &&
           utf8proc_get_property(letter)->ignorable == 0;
}

// For UTF-8: whether each letter is allowed in a name, and the first one at its start.
bool has_name_letters(std::string_view name) {
    const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(name.data());
    const auto* const end = at + name.size();
    for (bool first = true; at != end; first = false) {
        utf8proc_int32_t letter = 0;
        at += utf8proc_iterate(at, end - at, &letter);
        if (!is_name_letter(letter) || (first && is_mark(letter))) return false;
    }
    return true;
}

// The normalization form C of a text in UTF-8.
std::string to_nfc(std::string_view text) {
    utf8proc_uint8_t* mapped = nullptr;
    const auto size =
        utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                     &mapped, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    if (size < 0) throw std::bad_alloc();  // the only error for text in UTF-8
    const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(mapped, &std::free);
    return {reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(size)};
}

// "." and ".." are not names: clients treat them as steps in a path and send another path.
bool has_form_of_a_name(std::string_view name, std::size_t bytes_max) {
    if (name.empty() || name.size() > bytes_max || name == "." || name == ".." || name.front() == '-') return false;
    return std::all_of(name.begin(), name.end(), is_ascii_name_letter) || (is_utf8(name) && has_name_letters(name));
}

}  // namespace

Status check_name(std::string_view name, std::size_t bytes_max, const NameOwner& owner) {
    const auto refuse = [&](const std::string& rule) {
        return Error{owner.code, std::string(owner.whose) + " name " + rule, std::string(owner.field)};
    };
    if (!has_form_of_a_name(name, bytes_max)) {
        return refuse(
            "has 1 to " + std::to_string(bytes_max) +
            " bytes: letters, marks and digits of any script and . _ + / ; $ ( ) -; it does not begin with - or a "
            "mark, and is not . or ..; in a path, write / as %2F and percent-encode other characters as UTF-8");
    }
    if (std::all_of(name.begin(), name.end(), is_ascii_name_letter)) return {};
    const std::string composed = to_nfc(name);
    if (composed == name) return {};
    return refuse("must be in Unicode normalization form NFC: this one is " + percent_encode(composed) +
                  " there, percent-encoded");
}

}  // namespace duewheel

// Untrusted text in logs, terminals and responses. Whatever the bytes are, they can neither forge a line nor control a
// terminal, and JSON stays valid.
#include <algorithm>
#include <array>
#include <string>

#include <boost/json.hpp>

#include "base/log.h"
#include "duewheel/plain_text.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_script.h"
#include "http_api/calls/json_log_line.h"
#include "shared/utf8.h"

namespace duewheel::shown_text_fuzz {
namespace {

// By the definition: letters of 1 to 4 bytes, the shortest form of each, no surrogates, none beyond U+10FFFF.
bool is_text(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto lead = static_cast<unsigned char>(bytes.front());
        const std::size_t size = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
        if (size == 0 || size > bytes.size()) return false;
        std::uint32_t letter = size == 1 ? lead : lead & (0xffu >> (size + 1));
        for (std::size_t i = 1; i < size; ++i) {
            const auto next = static_cast<unsigned char>(bytes[i]);
            if ((next & 0xc0) != 0x80) return false;
            letter = letter << 6 | (next & 0x3f);
        }
        constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
        if (letter < kLeast[size] || letter > 0x10ffff || (letter >= 0xd800 && letter < 0xe000)) return false;
        bytes.remove_prefix(size);
    }
    return true;
}

bool has_control(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte < ' ' || byte == 0x7f) return true;
        // U+0080 to U+009F steer some terminals too.
        const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0u;
        if (byte == 0xc2 && next >= 0x80 && next < 0xa0) return true;
    }
    return false;
}

void judge_json(std::string_view line, std::string_view message) {
    require(line.find('\n') == line.npos, "a line of the log is two");
    boost::json::error_code code;
    const boost::json::value read = boost::json::parse({line.data(), line.size()}, code);
    require(!code && read.is_object(), "a line of the log is no JSON");
    const boost::json::string& told = read.get_object().at("message").get_string();
    require(!is_text(message) || std::string_view(told.data(), told.size()) == message, "a message is another");
}

}  // namespace

void fuzz(std::string_view input) {
    require(is_utf8(input) == is_text(input), "UTF-8 was taken for none, or the other way round");
    if (is_text(input)) {
        const std::size_t bytes_max = InputScript(input).byte();
        const std::string_view cut = cut_utf8(input, bytes_max);
        require(cut.size() <= bytes_max && input.starts_with(cut) && is_text(cut), "a text was cut within a letter");
        require(cut.size() + 4 > std::min(bytes_max, input.size()), "more was cut than had to be");
    }
    const std::string shown = printable(input);
    require(!has_control(shown) && is_text(shown), "what is shown holds a control character");
    require(!has_control(printable(input, 5)), "what is cut holds a control character");
    std::string lines = printable_lines(input);
    std::erase(lines, '\n');
    require(!has_control(lines), "lines that are shown hold a control character");

    InputScript script(input);
    const std::string_view value = script.text();
    const std::array<LogField, 3> fields = {LogField("text", value), LogField("number", script.number()),
                                            LogField("yes", script.chance(2))};
    const std::string_view message = script.rest();
    require(!has_control(log_line(LogLevel::warning, "event", message, fields)), "a line of the log is not one");
    judge_json(json_log_line(LogLevel::warning, "event", message, fields), message);
}

}  // namespace duewheel::shown_text_fuzz

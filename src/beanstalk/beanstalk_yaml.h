// The documents of the protocol: a YAML list or map on lines of its own.
//
// Texts are written as they are where every reader takes them for texts, and in quotes otherwise: a tube may be named
// "0.5", "null" or "2027-01-01", and the name of an operating system may begin with "#". Clients that split the lines
// themselves, as most do, so see what beanstalkd sends wherever that is valid.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace duewheel {

class BeanstalkYaml {
  public:
    // A map.
    void add(std::string_view key, std::string_view text) { add_plain(key, scalar(text)); }
    void add(std::string_view key, std::uint64_t number) { add_plain(key, std::to_string(number)); }
    // A number or a boolean as text.
    void add_plain(std::string_view key, std::string_view value) {
        text_.append(key).append(": ").append(value).append("\n");
    }
    // A list.
    void add_item(std::string_view text) { text_.append("- ").append(scalar(text)).append("\n"); }

    const std::string& text() const { return text_; }

  private:
    static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
    // Numbers and dates begin with a digit, a sign or a point.
    static bool is_plain(std::string_view text) {
        constexpr std::string_view kReserved[] = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"};
        constexpr std::string_view kOther = "0123456789-+/;.$_()";
        if (text.empty() || !(is_letter(text.front()) || text.front() == '/')) return false;
        const auto is_safe = [&](char c) { return is_letter(c) || kOther.find(c) != kOther.npos; };
        std::string lower(text);
        for (char& c : lower) c = is_letter(c) ? static_cast<char>(c | 0x20) : c;
        return std::all_of(text.begin(), text.end(), is_safe) &&
               std::find(std::begin(kReserved), std::end(kReserved), lower) == std::end(kReserved);
    }
    static std::string scalar(std::string_view text) {
        if (is_plain(text)) return std::string(text);
        std::string quoted = "\"";
        for (const char c : text) {
            if (c == '"' || c == '\\') quoted += '\\';
            quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
        }
        return quoted + "\"";
    }

    std::string text_ = "---\n";
};

}  // namespace duewheel

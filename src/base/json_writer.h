// Appends JSON to a string: responses are many and small, and need no tree.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace duewheel {

class JsonWriter {
  public:
    explicit JsonWriter(std::string& out) : out_(out) {}

    // An object; with a name if it is a member, in arrays without.
    JsonWriter& open(std::string_view name = {}) { return begin(name, '{'); }
    JsonWriter& close() { return end('}'); }
    JsonWriter& open_array(std::string_view name) { return begin(name, '['); }
    JsonWriter& close_array() { return end(']'); }

    // An element of an array.
    JsonWriter& element(std::string_view value) {
        comma();
        return quoted(value);
    }
    // `value` must be UTF-8.
    JsonWriter& text(std::string_view name, std::string_view value) {
        key(name);
        return quoted(value);
    }
    template <std::integral Number>
    JsonWriter& number(std::string_view name, Number value) {
        key(name);
        out_ += std::to_string(value);
        return *this;
    }
    JsonWriter& boolean(std::string_view name, bool value) {
        key(name);
        out_ += value ? "true" : "false";
        return *this;
    }
    // A value that is JSON already.
    JsonWriter& json(std::string_view name, std::string_view value) {
        key(name);
        out_ += value;
        return *this;
    }

  private:
    JsonWriter& begin(std::string_view name, char bracket) {
        if (name.empty()) {
            comma();
        } else {
            key(name);
        }
        out_ += bracket;
        first_ = true;
        return *this;
    }
    JsonWriter& end(char bracket) {
        out_ += bracket;
        first_ = false;
        return *this;
    }
    void comma() {
        if (!first_) out_ += ',';
        first_ = false;
    }
    void key(std::string_view name) {
        comma();
        quoted(name);
        out_ += ':';
    }
    JsonWriter& quoted(std::string_view value) {
        out_ += '"';
        const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(value[at]); };
        std::size_t copied = 0;
        for (std::size_t i = plain_end(value, 0); i < value.size(); i = plain_end(value, i + 1)) {
            const unsigned char c = byte(i);
            // U+007F to U+009F control some terminals. In UTF-8 the second byte of U+0080 to U+009F is the code point.
            const bool is_high_control = c == 0xc2 && i + 1 < value.size() && byte(i + 1) < 0xa0;
            if (c > 0x7f && !is_high_control) {
                while (i + 1 < value.size() && byte(i + 1) > 0x7f && byte(i + 1) != 0xc2) ++i;
                continue;
            }
            out_.append(value, copied, i - copied);
            if (is_high_control) ++i;
            copied = i + 1;
            escape(byte(i));
        }
        out_.append(value, copied, value.size() - copied);
        out_ += '"';
        return *this;
    }
    // Where the first byte at or after `from` is that is a control character, a quote, a backslash or not ASCII; the
    // size if there is none. Eight bytes at a time: the highest bit of each shows whether it is one of them, and a
    // borrow can only mark the bytes after one.
    static std::size_t plain_end(std::string_view value, std::size_t from) {
        static_assert(std::endian::native == std::endian::little);
        constexpr std::uint64_t kEach = 0x0101010101010101;
        constexpr std::uint64_t kHighest = kEach * 0x80;
        const auto is_zero = [](std::uint64_t bytes) { return (bytes - kEach) & ~bytes; };
        std::size_t at = from;
        for (; at + 8 <= value.size(); at += 8) {
            std::uint64_t bytes;
            std::memcpy(&bytes, value.data() + at, sizeof bytes);
            const std::uint64_t special = bytes | (bytes + kEach) | ((bytes - kEach * 0x20) & ~bytes) |
                                          is_zero(bytes ^ kEach * '"') | is_zero(bytes ^ kEach * '\\');
            if ((special & kHighest) != 0)
                return at + static_cast<std::size_t>(std::countr_zero(special & kHighest)) / 8;
        }
        const auto is_plain = [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; };
        while (at < value.size() && is_plain(value[at])) ++at;
        return at;
    }
    void escape(unsigned char c) {
        switch (c) {
            case '"':
                out_ += "\\\"";
                return;
            case '\\':
                out_ += "\\\\";
                return;
            case '\n':
                out_ += "\\n";
                return;
            case '\r':
                out_ += "\\r";
                return;
            case '\t':
                out_ += "\\t";
                return;
            default:
                break;
        }
        static constexpr char kHex[] = "0123456789abcdef";
        out_ += "\\u00";
        out_ += kHex[c >> 4];
        out_ += kHex[c & 15];
    }

    std::string& out_;
    bool first_ = true;
};

}  // namespace duewheel

// The encoding of fields: ascending tags, each a varint (number << 1 | is_text), then a varint or a length and bytes.
// A field with its default value is omitted, so that equal values have equal bytes.
//
// A struct states its fields once, in ascending order, in a function that takes a visitor: FieldWriter writes them, and
// FieldsReader reads them.
//
//     template <class Visitor, class Settings>  // Settings may be const
//     void fields(Visitor& visit, Settings& settings) {
//         visit.number(1, settings.revision);
//         visit.text(2, settings.name, "default");  // omitted if it is that
//     }
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error_codes.h"
#include "base/status.h"

namespace duewheel {

inline std::uint64_t zigzag(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
inline std::int64_t unzigzag(std::uint64_t value) {
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

inline void append_varint(std::string& out, std::uint64_t value) {
    std::array<char, 10> bytes;
    std::size_t size = 0;
    while (value >= 0x80) {
        bytes[size++] = static_cast<char>(value | 0x80);
        value >>= 7;
    }
    bytes[size++] = static_cast<char>(value);
    out.append(bytes.data(), size);
}
// Removes the number from the front of `bytes`. None if it is truncated, larger than 64 bits, or an overlong form.
inline std::optional<std::uint64_t> take_varint(std::string_view& bytes) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (bytes.empty()) return std::nullopt;
        const auto byte = static_cast<unsigned char>(bytes.front());
        bytes.remove_prefix(1);
        if (shift == 63 && byte > 1) return std::nullopt;
        value |= std::uint64_t{byte & 0x7fu} << shift;
        if (byte < 0x80) {
            if (byte == 0 && shift != 0) return std::nullopt;
            return value;
        }
    }
    return std::nullopt;
}

// Appends to a string, which grows once per field.
class FieldWriter {
  public:
    static constexpr bool kReads = false;

    explicit FieldWriter(std::string& out) : out_(out) {}

    void number(std::uint32_t tag, std::uint64_t value, std::uint64_t left_out = 0) {
        if (value == left_out) return;
        varint(std::uint64_t{tag} << 1);
        varint(value);
    }
    void signed_number(std::uint32_t tag, std::int64_t value, std::int64_t left_out = 0) {
        if (value == left_out) return;
        varint(std::uint64_t{tag} << 1);
        varint(zigzag(value));
    }
    void text(std::uint32_t tag, std::string_view value, std::string_view left_out = {}) {
        if (value == left_out) return;
        varint(std::uint64_t{tag} << 1 | 1);
        varint(value.size());
        out_.append(value);
    }
    // A text that earlier versions could write: read and dropped.
    void retired_text(std::uint32_t /*tag*/) {}
    // None of them contains the separator, or is empty.
    void texts(std::uint32_t tag, const std::vector<std::string>& values, char separator) {
        std::string joined;
        for (const std::string& value : values) {
            if (!joined.empty()) joined.push_back(separator);
            joined.append(value);
        }
        text(tag, joined);
    }
    void boolean(std::uint32_t tag, bool value) { number(tag, value ? 1 : 0); }
    // One of the values from `first` to `last`.
    template <class E>
    void enumerator(std::uint32_t tag, E value, E /*first*/, E /*last*/, std::uint64_t left_out = 0) {
        number(tag, static_cast<std::uint64_t>(value), left_out);
    }
    // The same; a greater one is of a newer version.
    template <class E>
    void newer_enumerator(std::uint32_t tag, E value, E /*last*/) {
        number(tag, static_cast<std::uint64_t>(value));
    }
    // Fields with these tags of a group that may be absent; null if it is.
    template <class Group>
    const Group* group(const std::optional<Group>& group, std::uint32_t /*first*/, std::uint32_t /*last*/) {
        return group ? &*group : nullptr;
    }

  private:
    void varint(std::uint64_t value) { append_varint(out_, value); }

    std::string& out_;
};

// Iterates over the fields of a body; refuses truncated, overlong and unordered fields.
class FieldReader {
  public:
    explicit FieldReader(std::string_view bytes) : rest_(bytes) {}

    // Advances to the next field; false at the end, or when damaged() has become true.
    bool next() {
        if (rest_.empty() || damaged_) return false;
        const std::uint64_t head = varint();
        const std::uint64_t tag = head >> 1;
        if (damaged_ || tag <= tag_ || tag > 1000) return fail();
        tag_ = static_cast<std::uint32_t>(tag);
        is_text_ = (head & 1) != 0;
        number_ = varint();
        if (!is_text_) return !damaged_;
        if (damaged_ || number_ > rest_.size()) return fail();
        text_ = rest_.substr(0, number_);
        rest_.remove_prefix(number_);
        return true;
    }

    std::uint32_t tag() const { return tag_; }
    bool damaged() const { return damaged_; }

    template <class T>
    void number(T& into) {
        if (is_text_ || (number_ >> (sizeof(T) * 8 - 1) >> 1) != 0) return void(fail());
        into = static_cast<T>(number_);
    }
    void boolean(bool& into) {
        if (is_text_ || number_ > 1) return void(fail());
        into = number_ == 1;
    }
    template <class T>
    void signed_number(T& into) {
        const std::int64_t value = unzigzag(number_);
        if (is_text_ || value != static_cast<T>(value)) return void(fail());
        into = static_cast<T>(value);
    }
    void text(std::string& into) {
        if (!is_text_) return void(fail());
        into.assign(text_);
    }
    void text(std::string_view& into) {
        if (!is_text_) return void(fail());
        into = text_;
    }

    // The value is not valid for this field.
    void refuse() { fail(); }

  private:
    bool fail() {
        damaged_ = true;
        return false;
    }
    std::uint64_t varint() {
        const std::optional<std::uint64_t> value = take_varint(rest_);
        if (!value) fail();
        return value.value_or(0);
    }

    std::string_view rest_;
    std::string_view text_;
    std::uint64_t number_ = 0;
    std::uint32_t tag_ = 0;
    bool is_text_ = false;
    bool damaged_ = false;
};

// Reads the fields of a struct in the order in which it states them. A field that is absent keeps its value. Each
// function returns whether the field was there.
class FieldsReader {
  public:
    static constexpr bool kReads = true;

    explicit FieldsReader(std::string_view bytes) : from_(bytes) { next(); }

    template <class T>
    bool number(std::uint32_t tag, T& into, std::uint64_t /*left_out*/ = 0) {
        return is_at(tag) && (from_.number(into), next());
    }
    template <class T>
    bool signed_number(std::uint32_t tag, T& into, std::int64_t /*left_out*/ = 0) {
        return is_at(tag) && (from_.signed_number(into), next());
    }
    template <class T>
    bool text(std::uint32_t tag, T& into, std::string_view /*left_out*/ = {}) {
        return is_at(tag) && (from_.text(into), next());
    }
    bool retired_text(std::uint32_t tag) {
        std::string_view dropped;
        return text(tag, dropped);
    }
    bool texts(std::uint32_t tag, std::vector<std::string>& into, char separator) {
        std::string_view joined;
        if (!text(tag, joined)) return false;
        for (std::size_t at = 0; at <= joined.size();) {
            const std::size_t end = std::min(joined.find(separator, at), joined.size());
            into.emplace_back(joined.substr(at, end - at));
            at = end + 1;
        }
        return true;
    }
    bool boolean(std::uint32_t tag, bool& into) { return is_at(tag) && (from_.boolean(into), next()); }
    template <class E>
    bool enumerator(std::uint32_t tag, E& into, E first, E last, std::uint64_t /*left_out*/ = 0) {
        std::uint8_t number = 0;
        if (!is_at(tag)) return false;
        from_.number(number);
        if (number < static_cast<std::uint8_t>(first) || number > static_cast<std::uint8_t>(last)) from_.refuse();
        into = static_cast<E>(number);
        return next();
    }
    template <class E>
    bool newer_enumerator(std::uint32_t tag, E& into, E last) {
        std::uint8_t number = 0;
        if (!is_at(tag)) return false;
        from_.number(number);
        if (number > static_cast<std::uint8_t>(last)) return false;  // end() reports it
        into = static_cast<E>(number);
        return next();
    }
    template <class Group>
    Group* group(std::optional<Group>& group, std::uint32_t first, std::uint32_t last) {
        if (!has_more_ || from_.tag() < first || from_.tag() > last) return nullptr;
        return group ? &*group : &group.emplace();
    }

    // The value that was just read is not valid.
    void refuse() { from_.refuse(); }
    bool damaged() const { return from_.damaged(); }
    // After all of them. `holder` is the beginning of the error for a field that the struct does not have, such as
    // "a schedule holds".
    Status end(std::string_view holder) const {
        if (!has_more_ || from_.damaged()) return {};
        return Error{"newer_format"_code,
                     std::string(holder) + " field " + std::to_string(from_.tag()) +
                         ", which this version does not know: open the data with the version that wrote it"};
    }

  private:
    bool is_at(std::uint32_t tag) const { return has_more_ && from_.tag() == tag; }
    bool next() {
        has_more_ = from_.next();
        return true;
    }

    FieldReader from_;
    bool has_more_ = false;
};

// The bytes of a value with a revision, whose fields are stated by `fields`; none if the revision is 0.
template <class Value, class Fields>
std::string encode_revised(const Value& value, Fields&& fields) {
    std::string out;
    out.reserve(256);  // of most
    FieldWriter to(out);
    if (value.revision != 0) fields(to, value);
    return out;
}

// The reverse. `holder`, such as "a schedule holds", begins the error. Codes: `damaged_record`, `newer_format`.
template <class Value, class Fields>
Result<Value> decode_revised(std::string_view bytes, const std::string& holder, Fields&& fields) {
    Value value;
    FieldsReader from(bytes);
    fields(from, value);
    if (Status known = from.end(holder); !known) return std::move(known).error();
    if (from.damaged() || (value.revision == 0) != bytes.empty()) {
        return Error{"damaged_record"_code, holder + " fields that cannot be read"};
    }
    return value;
}

}  // namespace duewheel

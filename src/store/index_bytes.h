// The bytes of the fields of keys and values of the index. The tables are in key_layout.h.
//
// Numbers are big-endian, instants have their sign bit inverted, and each text has its length (two bytes) before it, so
// that keys sort like their fields.
//
//     make_key(IndexTable::queue, name_space, queue, at)               a key
//     read_key(key, IndexTable::queue, name_space, queue, at)          the same fields of it; texts are views
//     append_fields(out, counts.pending, counts.held)                  a value
//     read_fields(value, counts.pending, counts.held)
#pragma once

#include <array>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "base/error_codes.h"
#include "store/key_layout.h"

namespace duewheel {

inline constexpr std::uint64_t kInstantSignBit = std::uint64_t{1} << 63;

// ---- writing

template <std::unsigned_integral T>
void append_field(std::string& out, T value) {
    std::array<char, sizeof(T)> bytes;
    for (std::size_t index = sizeof(T); index-- > 0; value = static_cast<T>(value >> 8)) {
        bytes[index] = static_cast<char>(value & 0xff);
    }
    out.append(bytes.data(), bytes.size());
}
inline void append_field(std::string& out, char byte) {
    out.push_back(byte);
}
inline void append_field(std::string& out, bool value) {
    out.push_back(value ? 1 : 0);
}
inline void append_field(std::string& out, DueMs instant) {
    append_field(out, static_cast<std::uint64_t>(instant) ^ kInstantSignBit);
}
inline void append_field(std::string& out, std::string_view text) {
    assert(text.size() <= 0xffff);
    append_field(out, static_cast<std::uint16_t>(text.size()));
    out.append(text);
}
inline void append_field(std::string& out, DuePosition at) {
    append_field(out, at.due_ms);
    append_field(out, at.id);
}

template <class... Fields>
void append_fields(std::string& out, const Fields&... fields) {
    (append_field(out, fields), ...);
}
template <class... Fields>
void append_fields(std::string& out, const std::tuple<Fields&...>& fields) {
    std::apply([&out](const auto&... each) { append_fields(out, each...); }, fields);
}

template <class Field>
std::size_t field_bytes(const Field&) {
    return sizeof(Field);
}
inline std::size_t field_bytes(std::string_view text) {
    return 2 + text.size();
}

template <class... Fields>
std::string make_key(IndexTable table, const Fields&... fields) {
    std::string key;
    key.reserve((std::size_t{1} + ... + field_bytes(fields)));
    key.push_back(static_cast<char>(table));
    append_fields(key, fields...);
    return key;
}

// ---- reading

// Reads fields from the front of a key or a value. After the first missing one all are 0, and is_whole() is false.
class FieldsOfBytes {
  public:
    explicit FieldsOfBytes(std::string_view bytes) : rest_(bytes) {}

    template <std::unsigned_integral T>
    void read(T& into) {
        into = 0;
        for (const char byte : take(sizeof(T))) into = static_cast<T>(into << 8 | static_cast<unsigned char>(byte));
    }
    void read(char& into) {
        std::uint8_t byte = 0;
        read(byte);
        into = static_cast<char>(byte);
    }
    void read(bool& into) {
        std::uint8_t byte = 0;
        read(byte);
        if (byte > 1) is_whole_ = false;
        into = byte == 1;
    }
    void read(DueMs& into) {
        std::uint64_t flipped = 0;
        read(flipped);
        into = is_whole_ ? static_cast<DueMs>(flipped ^ kInstantSignBit) : 0;
    }
    void read(std::string_view& into) {
        std::uint16_t size = 0;
        read(size);
        into = take(size);
    }
    void read(DuePosition& into) {
        read(into.due_ms);
        read(into.id);
    }

    std::string_view rest() const { return rest_; }
    bool is_whole() const { return is_whole_; }
    // Every requested field was present, and nothing is left.
    bool is_finished() const { return is_whole_ && rest_.empty(); }

  private:
    std::string_view take(std::size_t size) {
        if (size > rest_.size()) is_whole_ = false;
        if (!is_whole_) return {};
        const std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }

    std::string_view rest_;
    bool is_whole_ = true;
};

// Whether the bytes are these fields and nothing else.
template <class... Fields>
bool read_fields(std::string_view bytes, Fields&... fields) {
    FieldsOfBytes from(bytes);
    (from.read(fields), ...);
    return from.is_finished();
}
template <class... Fields>
bool read_fields(std::string_view bytes, const std::tuple<Fields&...>& fields) {
    return std::apply([bytes](auto&... each) { return read_fields(bytes, each...); }, fields);
}

template <class... Fields>
bool read_key(std::string_view key, IndexTable table, Fields&... fields) {
    char first = 0;
    return read_fields(key, first, fields...) && first == static_cast<char>(table);
}

inline Error damaged_row(std::string_view what) {
    return {"damaged_index"_code, "a " + std::string(what) +
                                      " of the index cannot be read. No data is lost: remove the index, and the next "
                                      "start rebuilds it from the log"};
}

}  // namespace duewheel

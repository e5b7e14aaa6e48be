// The data of messages: text, bytes or JSON, and how values of C++ become it.
//
// Codec<T> is the trait for a type T. It is there for std::string (text), Bytes, Json, numbers, bool and Content; with
// <duewheel/client/boost_json.h> for all types that Boost.JSON converts, among them structs described with
// BOOST_DESCRIBE_STRUCT; and a program specialises it for types of its own, with any JSON library:
//
//     template <>
//     struct duewheel::client::Codec<Email> {
//         static Content encode(const Email& email) { return Content::json(nlohmann::json(email).dump()); }
//         static Email decode(const Content& content) { return nlohmann::json::parse(content.json()).get<Email>(); }
//     };
//
// encode() and decode() report a value that cannot be converted by an exception, whose what() becomes the detail of the
// error `bad_data`, or the reason of a failed attempt. Encryption and compression: ClientOptions::codec.
#pragma once

#include <charconv>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "duewheel/client/result.h"

namespace duewheel::client {

using Duration = std::chrono::nanoseconds;                        // sent in whole milliseconds, rounded up
using Instant = std::chrono::system_clock::time_point;            // the same
using Headers = std::map<std::string, std::string, std::less<>>;  // of a message

// JSON as it is written: numbers of any length stay exact. Empty: none.
struct Json {
    std::string text{};
};

// Bytes that need not be text.
struct Bytes {
    std::string data{};
    bool operator==(const Bytes&) const = default;
};

struct Content {
    enum class Kind { none, text, bytes, json };

    Kind kind = Kind::none;  // none: a message that has ended, or a schedule without content
    std::string data{};      // UTF-8, bytes, or JSON as it is written
    std::string fault{};     // why the codec of the client could not decode the data; empty: it could

    static Content text(std::string text) { return {Kind::text, std::move(text), {}}; }
    static Content bytes(std::string data) { return {Kind::bytes, std::move(data), {}}; }
    static Content json(std::string written) { return {Kind::json, std::move(written), {}}; }

    bool operator==(const Content&) const = default;

    // The JSON of the content. Throws Failure, `bad_data`, if it is text or bytes, or gone.
    const std::string& json() const;
};

// The string that this JSON is. Throws Failure, `bad_data`, if it is something else.
std::string string_of_json(std::string_view json);

// The error of data that does not fit its type.
[[noreturn]] void throw_bad_data(const std::string& detail);

template <class T>
struct Codec {
    static_assert(
        sizeof(T) == 0,
        "this type has no Codec: include <duewheel/client/boost_json.h> and describe the type, or specialise Codec");
};

template <>
struct Codec<Content> {
    static Content encode(const Content& content) { return content; }
    static Content decode(const Content& content) { return content; }
};

template <>
struct Codec<Json> {
    static Content encode(const Json& json) { return Content::json(json.text); }
    static Json decode(const Content& content) { return {content.json()}; }
};

template <>
struct Codec<Bytes> {
    static Content encode(const Bytes& bytes) { return Content::bytes(bytes.data); }
    static Bytes decode(const Content& content) { return {content.data}; }
};

template <>
struct Codec<std::string> {
    static Content encode(const std::string& text) { return Content::text(text); }
    static std::string decode(const Content& content) {
        return content.kind == Content::Kind::text || content.kind == Content::Kind::bytes
                   ? content.data
                   : string_of_json(content.json());
    }
};

// The data of a message that has none, or whose data does not matter.
template <>
struct Codec<Nothing> {
    static Content encode(Nothing) { return Content::json("null"); }
    static Nothing decode(const Content&) { return {}; }
};

template <class T>
requires std::is_arithmetic_v<T>
struct Codec<T> {
    static Content encode(T value) {
        if constexpr (std::same_as<T, bool>) {
            return Content::json(value ? "true" : "false");
        } else {
            if (value - value != T(0)) throw_bad_data("the number is not finite");
            char text[64];
            return Content::json(std::string(text, std::to_chars(text, text + sizeof text, value).ptr));
        }
    }
    static T decode(const Content& content) {
        const std::string& text = content.json();
        if constexpr (std::same_as<T, bool>) {
            if (text != "true" && text != "false") throw_bad_data("the data is not true or false");
            return text == "true";
        } else {
            T value{};
            const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
            if (code != std::errc() || end != text.data() + text.size())
                throw_bad_data("the data is no number that fits its type");
            return value;
        }
    }
};

// Any value as content: text is a std::string, however it is written.
template <class T>
Content encode(const T& value) {
    if constexpr (std::convertible_to<const T&, std::string_view>) {
        return Content::text(std::string(std::string_view(value)));
    } else {
        return Codec<T>::encode(value);
    }
}

// Content as the value of a member in JSON: a result, a progress or a checkpoint. Throws Failure if it is bytes, text
// that is not UTF-8, or no JSON.
Json json_of(const Content& content);

template <class T>
Json to_json(const T& value) {
    return json_of(encode(value));
}

// The data of a leased or shown message as a T. Throws what its codec throws, and Failure, `bad_data`, if that of the
// client failed.
template <class T, class Shown>
T data_of(const Shown& message) {
    if (!message.content.fault.empty()) throw_bad_data(message.content.fault);
    return Codec<T>::decode(message.content);
}

// A value of a call that changes settings or a message, by implicit conversion. nullptr removes a member.
class Value {
  public:
    Value(std::nullptr_t) : json_("null") {}
    Value(const char* text) : Value(std::string_view(text)) {}
    Value(const std::string& text) : Value(std::string_view(text)) {}
    Value(std::string_view text) : json_(json_of(Content::text(std::string(text))).text) {}
    template <class T>
    requires std::is_arithmetic_v<T> Value(T number) : json_(Codec<T>::encode(number).data) {}
    Value(Duration duration);
    template <class Count, class Period>
    Value(std::chrono::duration<Count, Period> duration) : Value(std::chrono::ceil<Duration>(duration)) {}
    Value(Instant instant);
    Value(Json json) : json_(json_of(Content::json(std::move(json.text))).text) {}

    const std::string& json() const { return json_; }

  private:
    std::string json_;
};

// Members of a message or settings that a call changes, by their names in the HTTP API: {{"delay", 2h}, {"retry",
// nullptr}}.
using Changes = std::map<std::string, Value, std::less<>>;

}  // namespace duewheel::client

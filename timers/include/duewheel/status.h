// The result of an operation of the library that can fail: a value that the caller must check.
//
// Choose it over exceptions for errors that a caller can expect (an invalid expression, a full table): they are
// results, and cannot be overlooked, because Result and Status are [[nodiscard]]. An Error has a stable code
// (snake_case, for comparison), a sentence that says what to do, and the field that it refers to, if
// any. Drawback: a caller that is certain of success writes one character more, `*result`, and a wrong certainty is an
// assertion, like all bugs.
//
// Example:
//     const auto half = [](int number) -> Result<int> {
//         if (number % 2 != 0) return Error{"bad_number", "7 is odd. Give an even number.", "number"};
//         return number / 2;
//     };
//     assert(*half(8) == 4);
//     const Result<int> refused = half(7);
//     if (!refused) assert(refused.error().code == "bad_number");
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace duewheel {

struct Error {
    std::string_view code;  // a string literal
    std::string message;
    std::string field{};  // empty: about the whole input
};

// Either a T or an Error. Reading the one that is not there is a bug and asserts.
template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : held_(std::in_place_index<1>, std::move(error)) {}

    bool ok() const { return held_.index() == 0; }
    explicit operator bool() const { return ok(); }

    T& value() & { return assert(ok()), *std::get_if<0>(&held_); }
    const T& value() const& { return assert(ok()), *std::get_if<0>(&held_); }
    // By value, so that a loop over the content of a temporary Result is safe.
    T value() && { return assert(ok()), std::move(*std::get_if<0>(&held_)); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    const Error& error() const& { return assert(!ok()), *std::get_if<1>(&held_); }
    Error&& error() && { return assert(!ok()), std::move(*std::get_if<1>(&held_)); }

  private:
    std::variant<T, Error> held_;
};

// Success without a value, or an Error.
class [[nodiscard]] Status {
  public:
    Status() = default;
    Status(Error error) : error_(std::move(error)) {}

    bool ok() const { return !error_; }
    explicit operator bool() const { return ok(); }
    const Error& error() const& { return assert(error_), *error_; }
    Error&& error() && { return assert(error_), std::move(*error_); }

  private:
    std::optional<Error> error_;
};

}  // namespace duewheel

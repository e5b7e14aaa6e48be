// The result of an operation of the library that can fail: a value that the caller must check.
//
// Choose it over exceptions for errors that a caller can expect (an invalid expression, a full table): they are
// results, and cannot be overlooked, because Result and Status are [[nodiscard]]. An Error has a code for comparison, a
// sentence that says what to do, and the field that it refers to, if any. Drawback: a caller that is certain of success
// writes one character more, `*result`, and a wrong certainty is an assertion, like all bugs.
//
// Example:
//     constexpr ErrorCode kBadNumber{kFirstApplicationErrorCode};  // a code of this program
//     const auto half = [](int number) -> Result<int> {
//         if (number % 2 != 0) return Error{kBadNumber, "7 is odd. Give an even number.", "number"};
//         return number / 2;
//     };
//     assert(*half(8) == 4);
//     const Result<int> refused = half(7);
//     if (!refused) assert(refused.error().code == kBadNumber);
//     const Status full = Error{ErrorCode::timers_full, "There are as many timers as allowed. Cancel some first."};
//     assert(!full && full.error().code != kBadNumber);
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace duewheel {

// The codes of the library. A program that returns its own errors gives them numbers from kFirstApplicationErrorCode
// on.
enum class ErrorCode : std::uint16_t {
    none,               // not an error
    bad_cron,           // the text is not a cron expression
    bad_duration,       // the text is not a duration
    bad_exclusion,      // the text is not a list of days
    bad_instant,        // the text is not an instant
    bad_interval,       // the text is not a repeating interval
    bad_zone,           // there is no such time zone
    never_fires,        // the rule has no time in the future
    purgatory_stopped,  // the purgatory accepts no more operations
    queue_closed,       // the delay queue accepts no more elements
    request_cancelled,  // the request was cancelled
    request_stopped,    // the table of requests was stopped
    request_timeout,    // the response did not arrive in time
    timers_full,        // the maximum number of timers is pending
    timers_stopped,     // the timer service was stopped
};

inline constexpr std::uint16_t kFirstApplicationErrorCode = 100;

// In the order of the codes.
inline constexpr std::string_view kLibraryErrorNames[] = {"",
                                                          "bad_cron",
                                                          "bad_duration",
                                                          "bad_exclusion",
                                                          "bad_instant",
                                                          "bad_interval",
                                                          "bad_zone",
                                                          "never_fires",
                                                          "purgatory_stopped",
                                                          "queue_closed",
                                                          "request_cancelled",
                                                          "request_stopped",
                                                          "request_timeout",
                                                          "timers_full",
                                                          "timers_stopped"};
static_assert(std::size(kLibraryErrorNames) == static_cast<std::size_t>(ErrorCode::timers_stopped) + 1);

// Such as "bad_cron", for a log; empty for `none` and the codes of a program.
constexpr std::string_view library_name_of(ErrorCode code) {
    const auto number = static_cast<std::size_t>(code);
    return number < std::size(kLibraryErrorNames) ? kLibraryErrorNames[number] : std::string_view();
}

struct Error {
    ErrorCode code = ErrorCode::none;
    std::string message{};
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

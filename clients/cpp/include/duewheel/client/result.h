// The result of a call: its answer, or the error that says why there is none.
//
//     const Result<Receipt> receipt = mail.put(email);
//     if (!receipt) std::cerr << receipt.error().text();
//
// An error must be looked at: Result is [[nodiscard]], and value() of a failed call throws its error as a Failure.
#pragma once

#include <cassert>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace duewheel::client {

// What a caller can do about an error.
enum class Family {
    invalid,       // the request is wrong and stays wrong: correct the member that `field` names
    unauthorized,  // the token is missing, invalid, or does not allow the call
    not_found,  // there is no such message, queue, schedule or watchdog, or it ended longer ago than outcomes are kept
    conflict,   // the call came too late, or contradicts another one; `outcome` says what became of the message
    throttled,  // a limit or a full queue, until the deadline of the call
    unavailable,  // the server could not answer until the deadline of the call. With the code `deadline` it is not
                  // known whether it carried the call out: the same put with the same key can be repeated
};

struct Error {
    Family family = Family::unavailable;
    // Stable, for programs: a code of the server, or bad_url, bad_data, deadline, bad_certificate, too_many_redirects,
    // not_duewheel, unsupported_server, cancelled, or running (Worker::run).
    std::string code{};
    std::string detail{};   // for people: what is wrong, and what to do
    std::string field{};    // the member of the request that is at fault, if there is one
    std::string outcome{};  // what became of the message, if the call came too late

    std::string text() const { return code + ": " + detail; }
};

// An error as an exception: from value() of a result without one, and from what the user of a codec gets for bad data.
class Failure : public std::runtime_error {
  public:
    explicit Failure(Error error) : std::runtime_error(error.text()), error_(std::move(error)) {}
    const Error& error() const { return error_; }

  private:
    Error error_;
};

template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

    explicit operator bool() const { return content_.index() == 0; }
    // Precondition of the next three: there is a value.
    const T& operator*() const& { return checked(); }
    T&& operator*() && { return std::move(const_cast<T&>(checked())); }
    const T* operator->() const { return &checked(); }
    // The value. Throws Failure if there is none.
    const T& value() const& {
        if (!*this) throw Failure(error());
        return checked();
    }
    T value() && {
        if (!*this) throw Failure(error());
        return std::move(std::get<0>(content_));
    }
    // Precondition: there is no value.
    const Error& error() const {
        assert(content_.index() == 1);
        return *std::get_if<1>(&content_);
    }

  private:
    const T& checked() const {
        assert(content_.index() == 0);
        return *std::get_if<0>(&content_);
    }

    std::variant<T, Error> content_;
};

struct Nothing {};

}  // namespace duewheel::client

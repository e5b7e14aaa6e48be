// What the command line reports on standard error: an error of its own, or the problem document of a server. The code
// of a problem is a text, because a server of another version may send a code that this one does not have.
#pragma once

#include <string>
#include <utility>

#include <boost/json.hpp>

#include "base/error_codes.h"
#include "base/status.h"

namespace duewheel {

struct Refusal {
    Refusal() = default;
    Refusal(std::string of_server, std::string says, std::string about)
        : code(std::move(of_server)), detail(std::move(says)), field(std::move(about)) {}
    Refusal(ErrorCode own, std::string says, std::string about = {})
        : Refusal(std::string(name_of(own)), std::move(says), std::move(about)) {}
    Refusal(const Error& error) : Refusal(error.code, error.message, error.field) {}

    bool is(ErrorCode known) const { return code == name_of(known); }

    std::string code;  // empty: success
    std::string detail;
    std::string field;  // empty: about the whole input
};

// From the members of a problem document.
Refusal refusal_of(const boost::json::object& problem);

}  // namespace duewheel

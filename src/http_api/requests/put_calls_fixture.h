// For the tests of the API: the calls that most of them make.
#pragma once

#include <string>

#include "http_api/calls/call_fixture.h"

namespace duewheel {

inline const std::string kLease = lease_text({1024, 1, 2, 3});
inline const std::string kPut = "/v1/queues/q/messages";
inline const std::string kTake = "/v1/queues/q:lease";
inline const std::string kEmpty = R"({"body":""})";

inline Call put(const std::string& body) {
    return {"POST", kPut, body};
}
}  // namespace duewheel

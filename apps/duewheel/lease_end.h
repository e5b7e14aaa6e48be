// Shared by the verbs that end or extend leases: a single lease is sent with its own call, several in one request, and
// the outcome of each is printed on a line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "session.h"

namespace duewheel {

// A line of an example in the help, which sets $LEASE to a lease of this queue.
std::string lease_example(const std::string& queue);

// `call` is ":ack" or another, `members` are its members. Prints the outcome of each lease, in order. The result is a
// refusal if one of them had ended before or is invalid; the call takes effect on the others.
int end_leases(Session& session, const std::vector<std::string>& leases, std::string_view call,
               boost::json::object members = {});

// The outcome of one lease. A refusal if the lease had ended before.
int show_lease_end(const Session& session, const ServerAnswer& answer);

}  // namespace duewheel

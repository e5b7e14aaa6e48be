// What the verbs that end or extend leases share: one lease is asked for by itself, several in one request, and what
// became of each is told on a line of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/json/object.hpp>

#include "session.h"

namespace duewheel {

// The leases as the verb's arguments, one or more.
void take_leases(CLI::App& verb, std::vector<std::string>& leases);

// `call` is ":ack" or another, `members` what it takes. Prints the outcome of each, in their order. Refused when one of
// them had ended before or is none; what the others were asked for is done all the same.
int end_leases(Session& session, const std::vector<std::string>& leases, std::string_view call,
               boost::json::object members = {});

// The outcome of one. Refused when the lease had ended before.
int show_lease_end(const Session& session, const ServerAnswer& answer);

}  // namespace duewheel

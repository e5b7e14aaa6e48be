// Shared by verbs that show a listing: the range of time, and the loop over pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/instant.h"
#include "base/status.h"
#include "session.h"

namespace duewheel {

// --from and --to: a time as for --at, or a duration from now; with a leading minus, before now.
struct StretchArguments {
    std::optional<std::string> from;
    std::optional<std::string> to;
    std::optional<std::string> zone;
    std::uint64_t limit = 100;

    // `what` is between the two: "due".
    void add_to(CLI::App& verb, std::string_view what);
    // The instant of one of the two texts. Codes: as parse_local_instant().
    Result<InstantMs> instant(const std::string& text) const;
    // Adds those that are given as parameters with these names. Codes as above.
    Status add_parameters(std::string& path, std::string_view from_name, std::string_view to_name) const;
};

// Adds "&name=value" or "?name=value", with the value encoded; several values are separated by commas, and none of them
// adds nothing.
void add_parameter(std::string& path, std::string_view name, std::string_view value);
void add_parameter(std::string& path, std::string_view name, const std::vector<std::string>& values);

// --limit: the maximum number of rows, at least 1.
void takes_limit(CLI::App& verb, std::uint64_t& limit);
// The same for another option that limits what is shown.
CLI::Option* takes_at_least_one(CLI::Option* option);

struct LimitArguments {
    std::uint64_t limit = 100;
};
// The verb `list` of a group.
void add_listing(CLI::App& group, Session& session, const char* description, const char* example,
                 int (*run)(Session&, const LimitArguments&));

// A list of the server, and the table that shows it.
struct Listing {
    std::string path;         // with its parameters except limit and cursor
    std::string_view member;  // the array of its rows in a response
    std::uint64_t limit = 0;
    std::vector<std::string> heading;
    std::size_t cut = 0;  // the column that is truncated to fit the table to the terminal
    const char* none;     // printed if there are no rows
};
// Requests pages up to the limit and shows their objects: with --json one per line, otherwise each as a row. A line
// below the table reports that the limit was reached. Returns the exit code.
int show_list(Session& session, const Listing& listing,
              const std::function<std::vector<std::string>(const boost::json::object&)>& row_of);

}  // namespace duewheel

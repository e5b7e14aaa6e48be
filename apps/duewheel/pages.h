// Shared by verbs that show a listing: the range of time, and the loop over pages.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/instant.h"
#include "base/status.h"
#include "plain_text.h"
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
};

// Adds "&name=value" or "?name=value", with the value encoded.
void add_parameter(std::string& path, std::string_view name, std::string_view value);

struct PagesShown {
    int exit_code = 0;
    bool stopped = false;  // at the limit, and there may be more
};

// --limit: the maximum number of rows, at least 1.
void takes_limit(CLI::App& verb, std::uint64_t& limit);
// The same for another option that limits what is shown.
CLI::Option* takes_at_least_one(CLI::Option* option);

// Requests pages of the array `member`, up to `limit` of its objects in total, and shows each object. `path` has its
// parameters except limit and cursor.
PagesShown show_pages(Session& session, const std::string& path, std::string_view member, std::uint64_t limit,
                      const std::function<void(const boost::json::object&)>& show);

// The table of the rows, fitted to the terminal by truncating the column `cut`; a line below it reports that the limit
// was reached. `none` is printed if there are no rows except the heading.
void print_pages(const PagesShown& shown, const Rows& rows, std::size_t cut, const char* none);

}  // namespace duewheel

// What verbs share that show a listing: the stretch of time that is asked for, and page after page until enough has
// come.
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

// --from and --to: a time as --at takes it, or a duration from now; with a minus in front, before now.
struct StretchArguments {
    std::optional<std::string> from;
    std::optional<std::string> to;
    std::optional<std::string> zone;
    std::uint64_t limit = 100;

    // `what` lies between the two: "due".
    void add_to(CLI::App& verb, std::string_view what);
    // The instant that one of the two texts means. Codes: as parse_local_instant().
    Result<InstantMs> instant(const std::string& text) const;
};

// Adds "&name=value" or "?name=value", with the value encoded.
void add_parameter(std::string& path, std::string_view name, std::string_view value);

struct PagesShown {
    int exit_code = 0;
    bool stopped = false;  // at the limit, and there may be more
};

// --limit: how many rows at most, 1 or more.
void takes_limit(CLI::App& verb, std::uint64_t& limit);
// The same for another option that says how much is shown.
CLI::Option* takes_at_least_one(CLI::Option* option);

// Asks for page after page of the array `member`, at most `limit` of its objects in all, and shows each. `path` has its
// parameters but limit and cursor.
PagesShown show_pages(Session& session, const std::string& path, std::string_view member, std::uint64_t limit,
                      const std::function<void(const boost::json::object&)>& show);

// The table of what was shown, fitted to the terminal by its column `cut`; a line below says where it stopped at the
// limit. `none` is said where there are no rows but the heading.
void print_pages(const PagesShown& shown, const Rows& rows, std::size_t cut, const char* none);

}  // namespace duewheel

// Listings: the conversion of query parameters to a command, and the cursor between two pages.
//
// A cursor contains the position of the next page and its listing, with a check of both, so that a truncated or changed
// cursor, or one of another listing, is refused instead of giving a wrong result. It refers to no state of the server:
// it is valid as long as the messages exist, also after a restart. It is no secret and protects nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "engine/commands/command.h"
#include "http_api/http_api.h"
#include "net/http/http_message.h"

namespace duewheel {

inline constexpr std::uint32_t kListLimitMax = 1'000;
// Minutes of a forecast; the engine's limit is at least this.
inline constexpr std::uint32_t kForecastMinutesMax = 1'440;

// The position of a page in the order of its listing: an instant and an id.
struct ListPosition {
    std::int64_t at_ms = 0;
    MessageId id = 0;

    bool operator==(const ListPosition&) const = default;
};

// `query` identifies the listing: list_query().
std::string list_cursor_text(const ListPosition& position, std::uint64_t query);
// Code bad_cursor if it is not a cursor, or one of another listing.
Result<ListPosition> parse_list_cursor(std::string_view text, std::uint64_t query);

// A number that two different listings share only by chance.
std::uint64_t list_query(std::string_view name_space, std::string_view queue, std::uint64_t what, std::int64_t from_ms,
                         std::int64_t until_ms, MessageId id = 0);

// Reads `state`, `due_after`, `due_before`, `limit` and `cursor` into a command whose queue is known.
Result<Command> read_list(const HttpRequest& request, ListCommand list);

// Reads `queue`, `id`, `from`, `to`, `outcome`, `limit` and `cursor`.
Result<Command> read_history(const HttpRequest& request, HistoryCommand history, const HttpApiOptions& options);

// Reads `queue` and `minutes`.
Result<Command> read_forecast(const HttpRequest& request, ForecastCommand forecast, const HttpApiOptions& options);

}  // namespace duewheel

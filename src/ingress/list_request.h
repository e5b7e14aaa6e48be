// Listing: from the parameters of an address to a command, and the cursor between two pages.
//
// A cursor says where the next page begins and of which listing it is, with a check over both, so that one that was
// cut, changed, or brought to another listing is refused instead of answering something else. It holds no state of the
// server: it works as long as the messages do, after a restart too. It is no secret and protects nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "engine/command.h"
#include "ingress/http_api.h"
#include "net/http_message.h"

namespace duewheel {

inline constexpr std::uint32_t kListLimitMax = 1'000;
// Minutes of a forecast; the engine's limit is not below it.
inline constexpr std::uint32_t kForecastMinutesMax = 1'440;

// The place of a page in whatever order its listing has: an instant and an id.
struct ListPosition {
    std::int64_t at_ms = 0;
    MessageId id = 0;

    bool operator==(const ListPosition&) const = default;
};

// `query` stands for the listing: list_query().
std::string list_cursor_text(const ListPosition& position, std::uint64_t query);
// Code bad_cursor where it is none, or one of another listing.
Result<ListPosition> parse_list_cursor(std::string_view text, std::uint64_t query);

// A number that two different listings share by accident alone.
std::uint64_t list_query(std::string_view name_space, std::string_view queue, std::uint64_t what, std::int64_t from_ms,
                         std::int64_t until_ms, MessageId id = 0);

// Reads `state`, `due_after`, `due_before`, `limit` and `cursor` into a command whose queue is known.
Result<Command> read_list(const HttpRequest& request, ListCommand list);

// Reads `queue`, `id`, `from`, `to`, `outcome`, `limit` and `cursor`.
Result<Command> read_history(const HttpRequest& request, HistoryCommand history, const HttpApiOptions& options);

// Reads `queue` and `minutes`.
Result<Command> read_forecast(const HttpRequest& request, ForecastCommand forecast, const HttpApiOptions& options);

}  // namespace duewheel

// The parameters of a page of a list that is sorted by name: `limit`, and the `cursor` of the previous page.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error_codes.h"
#include "base/status.h"
#include "engine/commands/command.h"
#include "http_api/answers/name_cursor.h"
#include "http_api/fields/request_members.h"
#include "http_api/requests/list_request.h"
#include "http_api/requests/query_request.h"

namespace duewheel {

// Into `list`, a command with the members `limit` and `after`. `parse` returns the name of a valid cursor of this list,
// which errors call `what`. Codes: out_of_range, bad_cursor.
template <class List, class Parse>
Status read_name_page(const QueryRequest& query, std::string_view what, Parse parse, List& list) {
    if (Status read = assign(query.integer("limit", 1, kListLimitMax), list.limit); !read) return read;
    const std::optional<std::string_view> cursor = query.text("cursor");
    if (!cursor) return {};
    std::optional<std::string> after = parse(*cursor);
    if (!after) {
        return Error{"bad_cursor"_code,
                     "this is not a cursor of " + std::string(what) +
                         ": use the cursor of the previous page, or start without one",
                     "cursor"};
    }
    list.after = *std::move(after);
    return {};
}

// A call that lists `names` and takes no other parameters.
template <class List>
Result<Command> read_name_list(const HttpRequest& request, NameList names, std::string_view what, List list = {}) {
    if (const Result<JsonRequest> none = read_members(request, {}); !none) return none.error();
    const Result<QueryRequest> query = QueryRequest::parse(request.query, {"limit", "cursor"});
    if (!query) return query.error();
    std::string_view name_space;
    if constexpr (requires { list.name_space; }) name_space = list.name_space;
    const auto parse = [&](std::string_view cursor) { return parse_name_cursor(names, cursor, name_space); };
    if (Status read = read_name_page(*query, what, parse, list); !read) return std::move(read).error();
    return Command(std::move(list));
}

}  // namespace duewheel

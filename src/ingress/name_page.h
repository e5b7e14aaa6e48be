// The parameters of a page of a list that is sorted by name: `limit`, and the `cursor` of the previous page.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "ingress/list_request.h"
#include "ingress/query_request.h"
#include "ingress/request_members.h"

namespace duewheel {

// Into `list`, a command with the members `limit` and `after`. `parse` returns the name of a valid cursor of this list,
// which errors call `what`. Codes: out_of_range, bad_cursor.
template <class List, class Parse>
Status read_name_page(const QueryRequest& query, std::string_view what, Parse parse, List& list) {
    if (Status read = take(query.integer("limit", 1, kListLimitMax), list.limit); !read) return read;
    const std::optional<std::string_view> cursor = query.text("cursor");
    if (!cursor) return {};
    std::optional<std::string> after = parse(*cursor);
    if (!after) {
        return Error{"bad_cursor",
                     "this is not a cursor of " + std::string(what) +
                         ": use the cursor of the previous page, or start without one",
                     "cursor"};
    }
    list.after = *std::move(after);
    return {};
}

}  // namespace duewheel

// Members that more than one call takes, and how many are read in a row.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "engine/command.h"
#include "ingress/json_request.h"
#include "net/http_message.h"

namespace duewheel {

// Puts what a member says into its place; one that is absent leaves the place as it is.
template <class T, class Into>
Status take(Result<std::optional<T>> read, Into& into) {
    if (!read) return std::move(read).error();
    if (*read) into = static_cast<Into>(**read);
    return {};
}

// The members of a request that takes these and no others.
Result<JsonRequest> read_members(const HttpRequest& request, std::initializer_list<std::string_view> known);

// `delay` or `due`; `conflicting_members` where both are given. An instant in the past is due now.
Status read_when(const JsonRequest& request, When& into);

}  // namespace duewheel

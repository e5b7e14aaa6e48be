// The cookie of the dashboard's session: its id (access/dashboard_sessions.h), which the browser keeps out of reach of
// scripts and sends with each request to this server.
//
// The token of the session counts like one in the Authorization field, which wins if there are both. Browsers send the
// cookie with requests of other pages too, such as those of another port of the same host, so a change that is
// authenticated by it must come from a page of this server.
//
// Over TLS the name of the cookie has the prefix `__Host-`: browsers then accept it from this host alone, over TLS
// alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "net/http/http_message.h"

namespace duewheel {

// The id in the request's cookie; none if it has none. Empty if it has several, of which none is trusted.
std::optional<std::string_view> session_id(const HttpRequest& request);

// Set-Cookie: from now on the browser sends this id, or none. `request` is the one that it answers.
HttpHeader begin_session(const HttpRequest& request, std::string_view id);
HttpHeader end_session(const HttpRequest& request);

// Whether a request that is authenticated by the cookie comes from a page of this server, if it changes anything. Only
// for requests that check_caller() admits, which compares the names of pages. Code: foreign_origin.
Status check_session_page(const HttpRequest& request);

}  // namespace duewheel

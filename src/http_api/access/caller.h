// Protects a server that trusts its clients from web pages of other sites.
//
// A browser on the machine of a loopback server can send requests to it for every page that is open in it. Three
// headers identify such a request, and pages cannot forge them:
//
// - Origin: a script or form of a page that sends a changing request includes its origin. Origins other than this
//   server's own are refused, whatever the type of the body: a form of type text/plain is no loophole;
// - Sec-Fetch-Site: says of each request whether its page is of another site. Such requests are refused, reads too: the
//   browser hides the response from the page, but not how long it took. Only a link to the dashboard or the
//   documentation may come from anywhere;
// - Host: a page can give its own name the address 127.0.0.1 after it was loaded (DNS rebinding), and then has
//   the same origin.
//   But Host still has that name, and an unknown name is refused, also for reads.
//
// Host and Origin are parsed strictly: a name that is not wholly a host and a port is refused. It is no
// authentication: a program can send any header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "net/http/http_message.h"

namespace duewheel {

// A name of the server: "dw.example", "dw.example:8443", "https://dw.example".
struct Site {
    std::string scheme;      // "http" or "https"; empty: either
    std::string host;        // an IPv6 address is in brackets
    std::uint16_t port = 0;  // 0: none is named
};
// None if the text has another form, such as one with a path.
std::optional<Site> parse_site(std::string_view text);

struct CallerRules {
    bool check_host = false;
    std::vector<std::string> own_hosts;  // allowed in Host with any port, which may be that of a tunnel or a proxy
    // Allowed in Host, with any port if none is named; and their pages may call with another Host. A page has the port
    // that is named, or else the default port of its scheme.
    std::vector<Site> sites;
};

// Codes: foreign_host, foreign_origin.
Status check_caller(const HttpRequest& request, const CallerRules& rules);
// Whether it comes from a page of this server, or from no page. Code: foreign_origin.
Status check_page(const HttpRequest& request, const CallerRules& rules);

}  // namespace duewheel

// Keeps web pages of others away from a server that trusts whoever can reach it.
//
// A browser on the machine of a loopback server reaches it on behalf of every page that is open in it. Two things tell
// such a request apart, and neither can be forged by a page:
//
// - its Origin: a page's script or form that sends a request which changes something names where it comes from. What is
//   not this server's own page is refused, whatever the body's type: a form of type text/plain is no loophole;
// - its Host: a page may give its own name the address 127.0.0.1 after it was loaded (DNS rebinding), and is then of
// the
//   same origin. But the name stays in Host, and a name that is not ours is refused, for reading too.
//
// It is no authentication: a program can say what it likes.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "net/http_message.h"

namespace duewheel {

// Hosts are without a port, in small letters, IPv6 addresses in brackets. The port makes no difference: it may be that
// of a tunnel or a proxy.
struct CallerRules {
    bool check_host = false;
    std::vector<std::string> own_hosts;      // what Host may say
    std::vector<std::string> trusted_hosts;  // of own_hosts, those whose pages may call although Host says another
};

// Codes: foreign_host, foreign_origin.
Status check_caller(const HttpRequest& request, const CallerRules& rules);

}  // namespace duewheel

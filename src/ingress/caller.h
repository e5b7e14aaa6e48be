// Protects a server that trusts its clients from web pages of other sites.
//
// A browser on the machine of a loopback server can send requests to it for every page that is open in it. Two headers
// identify such a request, and pages cannot forge them:
//
// - Origin: a script or form of a page that sends a changing request includes its origin. Origins other than this
//   server's own are refused, whatever the type of the body: a form of type text/plain is no loophole;
// - Host: a page can give its own name the address 127.0.0.1 after it was loaded (DNS rebinding), and then has
//   the same origin.
//   But Host still has that name, and an unknown name is refused, also for reads.
//
// It is no authentication: a program can send any header.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "net/http_message.h"

namespace duewheel {

// Hosts are without a port, in lower case, with IPv6 addresses in brackets. The port is ignored: it may be that of a
// tunnel or a proxy.
struct CallerRules {
    bool check_host = false;
    std::vector<std::string> own_hosts;      // allowed values of Host
    std::vector<std::string> trusted_hosts;  // of own_hosts, those whose pages may call with another Host
};

// Codes: foreign_host, foreign_origin.
Status check_caller(const HttpRequest& request, const CallerRules& rules);

}  // namespace duewheel

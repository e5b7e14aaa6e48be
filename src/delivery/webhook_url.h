// Where a webhook is sent: a URL, read more strictly than browsers and libraries do.
//
// Two programs that read one URL differently are how requests get to where they must not: so whatever can be read in
// two ways is refused, and what is connected to and sent is made from the parts found here, never from the text that
// came in. Refused are: schemes other than http and https, names and passwords, backslashes, spaces, control and
// non-ASCII bytes, escapes in the host, hosts that end in a number but are no strict address ("127.1", "0x7f.1"),
// fragments, and empty or repeated parts. A host in another script is written in its xn-- form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "message/webhook_target.h"
#include "net/ip_address.h"

namespace duewheel {

struct WebhookUrl {
    bool is_tls = false;
    std::string host;                  // a name in small letters, or the address in its usual form; without brackets
    std::optional<IpAddress> address;  // where the host is one
    std::uint16_t port = 0;            // 80 or 443 where the text has none
    std::string target;                // path and query: "/" at least

    // Error `bad_webhook_url` with what is wrong and what to do. O(size).
    static Result<WebhookUrl> from(std::string_view text);
    // The same place in one form: "https://example.com/in?a=1", with the port where it is not the scheme's own.
    std::string text() const;
    // "example.com", "[::1]:8080": for the field Host, and for whoever counts by target.
    std::string authority() const;

    bool operator==(const WebhookUrl&) const = default;
};

}  // namespace duewheel

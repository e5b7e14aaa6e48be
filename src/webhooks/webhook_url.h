// The URL of a webhook, parsed more strictly than in browsers and libraries.
//
// If two programs parse one URL differently, requests can reach forbidden targets. So everything ambiguous is refused,
// and connections and requests use the parts found here, never the original text. Refused are: schemes other than http
// and https, user names and passwords, backslashes, spaces, control and non-ASCII bytes, escapes in the host, hosts
// that end in a number but are not strict addresses ("127.1", "0x7f.1"), fragments, and empty or repeated parts. A host
// in another script must be in its xn-- form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "net/ip_address.h"
#include "resource/webhook_target.h"

namespace duewheel {

struct WebhookUrl {
    bool is_tls = false;
    std::string host;                  // a name in lower case, or the address in its canonical form; without brackets
    std::optional<IpAddress> address;  // if the host is one
    std::uint16_t port = 0;            // 80 or 443 if the text has none
    std::string target;                // path and query: at least "/"

    // Error `bad_webhook_url` with the reason and what to do. O(size).
    static Result<WebhookUrl> from(std::string_view text);
    // The same place in one form: "https://example.com/in?a=1", with the port where it is not the scheme's own.
    std::string text() const;
    // "example.com", "[::1]:8080": for the field Host, and for grouping by target.
    std::string authority() const;

    bool operator==(const WebhookUrl&) const = default;
};

}  // namespace duewheel

// An accepted URL has one meaning: written out and parsed again it is the same, and a host that the C library would
// treat as an address, in any notation, is recognized as that address, to which the address rules then apply.
#include <array>
#include <cstring>
#include <string>

#include <arpa/inet.h>

#include "base/error_codes.h"
#include "fuzz/fuzz_target.h"
#include "webhooks/address_policy.h"
#include "webhooks/webhook_url.h"

namespace duewheel::webhook_url_fuzz {

void fuzz(std::string_view input) {
    static_cast<void>(IpBlock::from(input));
    const Result<WebhookUrl> url = WebhookUrl::from(input);
    if (!url) {
        require(url.error().code == "bad_webhook_url"_code, "a URL is refused as something else");
        return;
    }
    const Result<WebhookUrl> again = WebhookUrl::from(url->text());
    require(again.ok() && *again == *url, "a URL is another after writing");
    require(url->target.find_first_of(" \r\n\\#") == std::string::npos, "a target breaks out of its line");
    require(url->host.find_first_of("@/?#\\[]") == std::string::npos, "a host holds what separates");
    in_addr by_the_library{};
    if (inet_aton(url->host.c_str(), &by_the_library) != 0) {
        require(url->address.has_value(), "a name is an address to the library");
        require(url->address->is_v4(), "an address is of another family to the library");
        const auto bytes = url->address->to_v4().to_bytes();
        require(std::memcmp(bytes.data(), &by_the_library, sizeof by_the_library) == 0,
                "an address is another to the library");
    }
    if (url->address) {
        require(parse_ip_address(url->address->to_string()) == url->address, "an address is another after writing");
        static_cast<void>(AddressPolicy().refusal(*url->address, url->port));
    }
}

}  // namespace duewheel::webhook_url_fuzz

// A message as a webhook request, and the meaning of its response.
//
// The request contains the three fields of Standard Webhooks, where webhook-id is the id of the message, the same in
// every attempt; the data of a lease, in fields that begin with `duewheel-`; the media type of the message, the
// headers of the queue and of the message, except those that frame a request or route it; and the body,
// byte for byte.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/secret.h"
#include "engine/commands/command.h"
#include "webhooks/header_cipher.h"
#include "webhooks/webhook_client.h"
#include "webhooks/webhook_signature.h"

namespace duewheel {

using HeaderFields = std::vector<std::pair<std::string, std::string>>;

struct WebhookAttempt {
    std::string_view name_space;
    std::string_view queue;
    const WebhookUrl& url;
    const WebhookSigner& signer;
    std::int64_t timeout_ms = 0;
    std::int64_t timestamp_ms = 0;  // of the clock on the wall, against which receivers check
    std::span<const std::pair<std::string, Secret>> headers = {};  // of the queue
};

// Whether a queue or a message may have a header of this name. Not those that frame a request, are for the next hop, or
// are set by this program.
bool is_header_allowed(std::string_view name);

// Moves the body out of `message`. `own`: the headers of the message; those that the queue has too are omitted.
// O(size).
WebhookRequest webhook_of(Delivered& message, const HeaderFields& own, const WebhookAttempt& attempt);

enum class WebhookMeaning : std::uint8_t {
    delivered,    // 2xx
    gone,         // 410: the target wants no more messages
    refused,      // another status: the target works, but refuses this message
    unavailable,  // 429 or 5xx, or a Retry-After: the target does not work now
    no_answer,    // none of these; the request may have arrived
    not_sent,     // the target was not reached, or is forbidden
};
WebhookMeaning meaning_of(const WebhookAnswer& answer);

// Whether the target may be at fault for other messages too.
constexpr bool is_of_target(WebhookMeaning meaning) {
    return meaning >= WebhookMeaning::unavailable;
}

// The seconds of a number in a Retry-After field, rounded up; the greatest number if it is too large; 0 if it is
// not a number.
std::int64_t retry_after_number_s(std::string_view text);
// The pause that the target asked for, in milliseconds: 0 if it asked for none, or was not reached.
std::int64_t retry_after_ms(const WebhookAnswer& answer, std::int64_t max_ms);

// Replaces the values of a queue's webhook headers, and each of their words of four bytes or more, by `***`: a target
// may repeat what it was sent in its response, which is kept as a reason and logged. Also the beginning of one at the
// end of the text, and the end of one at its beginning, as a response is cut.
void hide_header_values(const SecretHeaders& headers, std::string& text);

// For the failure's record: "answered 500: out of order". UTF-8, up to this number of bytes (both_ends()).
std::string failure_reason(const WebhookAnswer& answer, std::size_t bytes_max);

}  // namespace duewheel

// A message as a webhook, and what its answer means.
//
// What goes out: the three fields of Standard Webhooks, of which webhook-id is the message's id, the same in every
// attempt; what a lease would tell, in fields that begin with `duewheel-`; the message's media type, the
// queue's headers and the message's own, but for those that say how a request is framed or who it is for; and the body,
// byte for byte.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/secret.h"
#include "delivery/header_cipher.h"
#include "delivery/webhook_client.h"
#include "delivery/webhook_signature.h"
#include "engine/command.h"

namespace duewheel {

using HeaderFields = std::vector<std::pair<std::string, std::string>>;

struct WebhookAttempt {
    std::string_view name_space;
    std::string_view queue;
    const WebhookUrl& url;
    const WebhookSigner& signer;
    std::int64_t timeout_ms = 0;
    std::int64_t timestamp_ms = 0;  // of the clock on the wall, against which receivers check
    std::int64_t lateness_ms = 0;   // from its due time until now
    std::span<const std::pair<std::string, Secret>> headers = {};  // of the queue
};

// Whether a queue or a message may say a field of this name. Not those that frame a request, are for the next hop, or
// are this program's to say.
bool may_be_said(std::string_view name);

// Takes the body out of `message`. `own`: the message's headers, of which those are left out that the queue has too.
// O(size).
WebhookRequest webhook_of(Delivered& message, const HeaderFields& own, const WebhookAttempt& attempt);

enum class WebhookMeaning : std::uint8_t {
    delivered,    // 2xx
    gone,         // 410: the target wants nothing more, ever
    refused,      // another answer: the target works, and does not take this message as it is
    unavailable,  // 429 or 5xx, or a time in which it wants to be left alone: the target does not work now
    no_answer,    // of none of these kinds; it may have arrived
    not_sent,     // nobody was reached, or who was may not be
};
WebhookMeaning meaning_of(const WebhookAnswer& answer);

// Whether the target may be blamed for other messages too.
constexpr bool is_of_target(WebhookMeaning meaning) {
    return meaning >= WebhookMeaning::unavailable;
}

// The seconds that a number in a Retry-After field says, a fraction counted as a whole one, and one that is too great
// as the greatest; 0 of what is no number.
std::int64_t retry_after_number_s(std::string_view text);
// How long the target wants to be left alone, in milliseconds: 0 where it says nothing, or nobody asked it.
std::int64_t retry_after_ms(const WebhookAnswer& answer, std::int64_t max_ms);

// Replaces the values of a queue's webhook headers, and each of their words of four bytes or more, by `***`: a target
// may repeat what it was sent in its response, which is kept as a reason and logged. Also the beginning of one at the
// end of the text, as a response is cut.
void hide_header_values(const SecretHeaders& headers, std::string& text);

// For the failure's record: "answered 500: out of order". UTF-8, at most as many bytes.
std::string failure_reason(const WebhookAnswer& answer, std::size_t bytes_max);

}  // namespace duewheel

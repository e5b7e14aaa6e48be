// Sends webhooks: one POST each, many at a time, on an event loop, by libcurl.
//
// What it adds to the library is the care that requests of strangers need. Where a request goes is decided by the
// address that a socket is about to be connected to, after every look-up, and once more by the peer's before anything
// is sent. Nothing else chooses the way: no redirects, no proxies from the environment, no cookies, no credentials, no
// files in a home. An answer may take so long and be so large, and what is read beyond its beginning is thrown away.
//
// Connections are kept and used again, by host. A request that broke after it was sent may have arrived: whoever sends
// decides whether to send it again, and gives it an id by which the receiver knows it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "delivery/address_policy.h"
#include "delivery/webhook_url.h"

namespace duewheel {

class EventLoop;

struct WebhookRequest {
    WebhookUrl url;
    // Of the header, without Host and Content-Length. Names and values hold no line ends: whoever makes them has
    // checked that.
    std::vector<std::pair<std::string, std::string>> fields;
    std::string body;
    std::chrono::milliseconds timeout{15'000};  // for all of it, looking up and connecting included
};

struct WebhookAnswer {
    enum class Kind : std::uint8_t {
        answered,     // with `status`, whatever it is
        forbidden,    // the address may not be reached; nothing was sent
        unreachable,  // no such name, or no connection; nothing was sent
        untrusted,    // the other side is not who the URL says; nothing was sent
        timed_out,    // it may have been sent
        broken,       // the connection ended before the answer did; it may have been sent
    };

    Kind kind = Kind::broken;
    int status = 0;
    std::int64_t retry_after_s = 0;  // as the other side asks for; 0: it does not
    std::uint64_t took_us = 0;
    std::string text;  // how the answer's body begins, or what went wrong
};

// Of one thread, its loop's.
class WebhookClient {
  public:
    struct Options {
        AddressPolicy addresses;
        std::string trusted_file;             // certificates in PEM; empty: the system's
        std::size_t connections_max = 1'000;  // open at one time; further requests wait
        std::size_t connections_per_host_max = 64;
        std::size_t answer_bytes_max = 64u
                                       << 10;  // beyond it an answer is cut off, which changes nothing of its status
    };
    static constexpr std::size_t kTextBytesMax = 1024;

    using Done = std::function<void(WebhookAnswer)>;

    // Throws std::runtime_error where the library cannot be set up. `loop` outlives it.
    WebhookClient(EventLoop& loop, Options options);
    // What is under way is given up, and its `done` is not called.
    ~WebhookClient();
    WebhookClient(const WebhookClient&) = delete;
    WebhookClient& operator=(const WebhookClient&) = delete;

    // `done` is called once, later, from the loop; it may send again.
    void send(WebhookRequest request, Done done);
    std::size_t in_flight() const;

  private:
    struct Parts;
    struct Transfer;
    struct Watch;

    std::shared_ptr<Parts> parts_;
};

}  // namespace duewheel

// Sends webhooks: one POST each, many at a time, on an event loop, with libcurl.
//
// It adds the precautions that requests on behalf of clients need. The address to which a socket is about to be
// connected is checked after every name resolution, and the peer's address again before anything is sent. Nothing else
// affects where a request goes: no redirects, no proxies from the environment, no cookies, no credentials, no files of
// the user. Responses are limited in time and size, and only the start of the body is kept.
//
// Connections are kept and reused, by host. A request that failed after it was sent may have arrived: the caller
// decides whether to send it again, and gives it an id by which the receiver recognizes it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "webhooks/address_policy.h"
#include "webhooks/webhook_url.h"

namespace duewheel {

class EventLoop;

struct WebhookRequest {
    WebhookUrl url;
    // Fields of the header, without Host and Content-Length. The caller has checked that names and values contain no
    // line breaks.
    std::vector<std::pair<std::string, std::string>> fields;
    std::string body;
    std::chrono::milliseconds timeout{15'000};  // for all of it, including name resolution and connecting
};

struct WebhookAnswer {
    enum class Kind : std::uint8_t {
        answered,     // with `status`, any status
        forbidden,    // the address is forbidden; nothing was sent
        unreachable,  // no such name, or no connection; nothing was sent
        untrusted,    // the certificate is not that of the URL's host; nothing was sent
        timed_out,    // it may have been sent
        broken,       // the connection ended before the response did; it may have been sent
    };

    Kind kind = Kind::broken;
    int status = 0;
    std::int64_t retry_after_s = 0;  // as requested by the target; 0: it did not
    std::uint64_t took_us = 0;
    std::string text;  // the response body, or the error; of a long body the beginning
    std::string end;   // the end of a long body
};

// For one thread, that of its loop.
class WebhookClient {
  public:
    struct Options {
        AddressPolicy addresses;
        std::string trusted_file;             // certificates in PEM; empty: the system's
        std::size_t connections_max = 1'000;  // open at one time; further requests wait
        std::size_t connections_per_host_max = 64;
        std::size_t answer_bytes_max = 64u << 10;  // beyond it a response is truncated; its status still counts
    };
    static constexpr std::size_t kTextBytesMax = 1024;

    using Done = std::function<void(WebhookAnswer)>;

    // Throws std::runtime_error if the library cannot be initialized. `loop` must outlive it.
    WebhookClient(EventLoop& loop, Options options);
    // Requests in progress are aborted, and their `done` is not called.
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

// What all copies of a client share: its settings, the thread of the network, and how a call gets its answer.
//
// The rules are those of all clients (clients/conformance/README.md): a request is sent again if its connection fails
// or its response does not come whole, with a backoff with jitter between attempts, and after 429, 503 and 507, at the
// earliest after `Retry-After`. Every other error is final. One deadline covers all attempts, redirects and pauses.
// Before its first call, a client asks for the version of the server.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "duewheel/client/call.h"
#include "duewheel/client/client.h"
#include "transport.h"

namespace duewheel::client {

// One call with all its attempts.
struct Request {
    std::string method;
    std::string path;  // with the query, from the root
    // The body of an attempt that begins so long after the first one; absent: no body.
    std::function<std::string(Duration passed)> body{};
    std::string media_type = "application/json";
    Duration wait{};                    // how long the server may wait by itself, in addition to the deadline
    std::optional<Duration> timeout{};  // instead of that of the client
    // The call that follows this one to get the answer; nothing if this is it already.
    std::function<std::optional<Request>(const std::string& answer)> next{};
};

class Core : public std::enable_shared_from_this<Core> {
  public:
    // Throws Failure if the URL or the certificate cannot be used.
    Core(const std::string& url, ClientOptions options);

    // Begins a call, whose answer is the body of the successful response.
    std::shared_ptr<detail::Pending> send(Request request);

    // The path of a call in the namespace of the client.
    std::string path(const std::string& below) const { return base_ + below; }
    const ClientOptions& options() const { return options_; }

  private:
    friend class Attempts;

    ClientOptions options_;
    std::string origin_;
    std::string base_;
    bool is_checked_ = false;  // whether the server has a version of the range; on the thread of the network only
    Transport transport_;
};

// The refusal that a response, or an item of the response to a batch, describes; nothing if it is none.
std::optional<Error> problem_of(std::string_view json);

}  // namespace duewheel::client

// A small blocking HTTP/1.1 client: for the command line and for tests, one request at a time.
//
// It keeps its connection between requests. If the server closed it meanwhile, the request goes out on a new one,
// unseen by the caller. If it breaks after the request was sent and before a byte of an answer, the request is sent
// once more where doing it twice is doing it once: any method but POST and PATCH, and anything with an Idempotency-Key.
// Otherwise the caller is told that nobody knows. It follows no redirects and speaks no TLS.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "net/answer_parser.h"
#include "net/http_message.h"

namespace duewheel {

class HttpClient {
  public:
    // "http://127.0.0.1:7420", "http://server" (port 80) or "http://[::1]:7420"; a path after it is put before every
    // target. Whether it can be understood and reached is seen by the first request.
    explicit HttpClient(std::string_view server);
    ~HttpClient();
    HttpClient(HttpClient&&) noexcept;
    HttpClient& operator=(HttpClient&&) noexcept;

    // Sends one request and waits for all of its answer, whatever its status, at most `timeout` (which looking up a
    // host's name does not count towards). Host and Content-Length are added. Errors:
    //   unreachable   no connection, or it broke, or the time is up: the message names the server and what to check
    //   bad_address   the server's address is none
    //   bad_answer    something answered that is not HTTP/1.1, or more than 256 MiB
    Result<HttpAnswer> request(std::string_view method, std::string_view target,
                               const std::vector<HttpHeader>& headers = {}, std::string_view body = {},
                               std::chrono::milliseconds timeout = std::chrono::seconds(30));

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace duewheel

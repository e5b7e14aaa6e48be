// A small blocking HTTP/1.1 client on libcurl: for the command line and for tests, one request at a time.
//
// It keeps its connection between requests. If the server closed it meanwhile, the request goes out on a new one,
// unseen by the caller. If it breaks after the request was sent and before a byte of a response, the request is sent
// once more if it may be repeated: any method but POST and PATCH, and anything with an Idempotency-Key. Otherwise the
// caller gets an error that says so. https:// always verifies the certificate and the name of the server.
//
// It follows the redirects of nodes that do not own what a request is about: 307, with the same method, headers and
// body, up to kRedirectsMax in a row, and nothing but 307. The token goes along, because the server that the user named
// also names the node; but never from https:// to http://. Each request starts at the server of the options again.
//
// It uses the proxy of the environment (`https_proxy`, `http_proxy`, `no_proxy`), but never for a loopback address.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "net/http/http_message.h"

namespace duewheel {

struct HttpAnswer {
    int status = 0;
    std::vector<HttpHeader> headers;
    std::string body;

    // The first header of this name, whatever its case.
    std::optional<std::string_view> header(std::string_view name) const;
};

struct HttpClientOptions {
    // "http://127.0.0.1:7420", "http://server" (port 80), "https://server" (port 443) or "http://[::1]:7420"; a path
    // after it is put before every target.
    std::string server = "http://127.0.0.1:7420";
    std::string ca_file;             // PEM; empty: the authorities that the system trusts
    std::string client_certificate;  // PEM; empty: none
    std::string client_key;          // PEM; empty: in the file of the certificate
    std::string token;               // sent as `Authorization: Bearer`; empty: none
    bool insecure = false;           // whether the token is also sent over http:// beyond loopback
    std::size_t body_bytes_max = std::size_t{256} << 20;
};

class HttpClient {
  public:
    static constexpr int kRedirectsMax = 5;

    // Whether the server can be understood and reached is seen by the first request.
    explicit HttpClient(HttpClientOptions options);
    ~HttpClient();
    HttpClient(HttpClient&&) noexcept;
    HttpClient& operator=(HttpClient&&) noexcept;

    // Sends one request and waits for the whole response, whatever its status, for up to `timeout`. Host and
    // Content-Length are added. Errors:
    //   unreachable             no connection, or it broke, or the time is up: the message names the server and what to
    //                           check
    //   untrusted_server        the certificate of the server is not valid, or not for this name
    //   bad_certificate_file    a file of the options cannot be used
    //   bad_address             the address of the server cannot be understood
    //   bad_request             a part of the request has a control character in it
    //   bad_answer              the response is not HTTP/1.1, or has more than `body_bytes_max`
    //   exposed_token           the token would be sent over http:// beyond loopback, first or after a redirect
    //   bad_redirect            a redirect without a usable address, from https:// to http://, or too many in a row
    Result<HttpAnswer> request(std::string_view method, std::string_view target,
                               const std::vector<HttpHeader>& headers = {}, std::string_view body = {},
                               std::chrono::milliseconds timeout = std::chrono::seconds(30));

    // Sends a GET whose response has no known end, such as server-sent events. `take` gets the bytes of a 2xx response
    // as they arrive; another response is returned whole. `goes_on` is called about once a second, and when bytes have
    // arrived: the call returns when it is false, or the server has ended the response. Errors as of request();
    // `unreachable` also if no byte arrives for `silence_max`.
    Result<HttpAnswer> stream(std::string_view target, const std::function<void(std::string_view)>& take,
                              const std::function<bool()>& goes_on,
                              std::chrono::seconds silence_max = std::chrono::seconds(30));

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace duewheel

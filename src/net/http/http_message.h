// HTTP messages as plain values: the request that a handler gets, and its response.
//
// The texts of a request are views into the buffers of the connection and valid only during the handler's call: copy
// what is needed later. Nothing in it is percent-decoded: a path is split first and decoded afterwards (http_target.h),
// so that "%2F" in a name does not become a separator.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/instant.h"

namespace duewheel {

struct HttpField {
    std::string_view name;
    std::string_view value;
};

// The sender of a request, as known to its connection.
struct HttpPeer {
    std::string address;  // without the port
    // Subject alternative names of a client certificate that the server has verified: DNS names, URIs and email
    // addresses, in the order of the certificate, each with its type: "dns:host.example", "uri:spiffe://a/b",
    // "email:ann@example.org". Empty: no certificate, or no such name in it.
    std::vector<std::string> certificate_names = {};
    InstantMs certificate_expires_ms =
        kNoInstant;  // verified when the connection began; it may expire while that is open
    bool is_tls = false;
};

// Requests of one connection that may be in progress at once share a group (http_server.h).
using HttpGroup = unsigned;
inline constexpr HttpGroup kAlone = 0;
inline constexpr HttpGroup kReadsGroup = 1;
inline constexpr HttpGroup kFirstOwnGroup = 2;

// The classification of a request by the server's owner, once, before it is handled. The server uses only `group`; the
// other members are the owner's, and are returned with the request.
struct HttpRoute {
    HttpGroup group = kAlone;
    unsigned call = 0;
    // Parts of the path, or literals.
    std::string_view outer_name;
    std::string_view name;
    std::string_view inner_name;
};

struct HttpRequest {
    std::string_view method;  // as sent: method names are case-sensitive
    std::string_view target;  // as sent, but without scheme and authority
    std::string_view path;    // the target before '?'
    std::string_view query;   // the target after '?', or empty
    // The path's parts between slashes, raw: "/v1/queues/a%2Fb" has "v1", "queues", "a%2Fb"; "/" has one empty part.
    std::vector<std::string_view> segments;
    std::vector<HttpField> fields;  // in the order of the request
    std::string_view body;
    HttpPeer peer;
    int minor_version = 1;   // HTTP/1.0 or HTTP/1.1
    bool keep_alive = true;  // what the client asked for
    // The body was not read, because the head was not admitted (http_server.h).
    bool is_head_only = false;
    HttpRoute route;  // set by the server before it calls its handler
    // What the owner's HttpPreparer made of it; null: nothing.
    std::shared_ptr<void> prepared;

    // The first field of this name in any case; O(fields).
    std::optional<std::string_view> header(std::string_view name) const;
};

struct HttpHeader {
    std::string name;
    std::string value;
};

struct HttpResponse {
    int status = 200;
    std::string content_type = {};  // empty: no Content-Type field
    std::string body = {};
    // Writes the body, on the thread of the connection when the response is sent; empty: `body` has it.
    std::function<std::string()> write_body = {};
    // Without Date, Content-Type, Content-Length, Transfer-Encoding and Connection, which the server adds, and without
    // the standing fields (http_message.cc), unless this response needs another value of one. A name or value with a
    // control character is a bug; it is asserted, and not sent.
    std::vector<HttpHeader> headers = {};
};

// The framing of a response on a particular connection.
struct HttpFraming {
    bool head_request = false;    // the head of the response, without its body
    bool close = false;           // announce that this is the last response
    bool old_keep_alive = false;  // an HTTP/1.0 client asked to keep the connection
    bool chunked = false;         // the body follows in chunks
    bool until_close = false;     // the body follows and ends with the connection (HTTP/1.0)
    bool over_tls = false;        // the connection speaks TLS
    std::string_view date = {};   // of the Date field; empty: none
};

// Appends the response in wire format.
void append_response(std::string& to, const HttpResponse& response, HttpFraming framing);

// Appends `bytes`, which must not be empty, as one chunk of a chunked body.
void append_chunk(std::string& to, std::string_view bytes);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

// "Not Found" for 404; "Unknown" for a status not in the registry.
std::string_view reason_phrase(int status);

// Equal except for the case of ASCII letters.
bool equal_ignoring_case(std::string_view left, std::string_view right);

// True if the comma-separated `list` contains `token`, in any case.
bool list_holds(std::string_view list, std::string_view token);

}  // namespace duewheel

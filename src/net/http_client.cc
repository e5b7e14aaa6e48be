#include "net/http_client.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "net/answer_parser.h"

namespace duewheel {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Executor = asio::io_context::executor_type;
using Socket = asio::basic_stream_socket<tcp, Executor>;
using Timer =
    asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, Executor>;

struct ServerAddress {
    std::string host;
    std::string port;
    std::string authority;  // for the Host field
    std::string prefix;     // of all targets, without a slash at its end
};

Result<ServerAddress> parse_server(std::string_view server) {
    const Error error{"bad_address",
                      "\"" + std::string(server) +
                          "\" is not a server's address; write http://HOST:PORT, such as "
                          "http://127.0.0.1:7420.",
                      ""};
    constexpr std::string_view kScheme = "http://";
    if (!equal_ignoring_case(server.substr(0, kScheme.size()), kScheme)) return error;
    server.remove_prefix(kScheme.size());
    const auto slash = std::min(server.find('/'), server.size());
    ServerAddress address;
    address.authority = server.substr(0, slash);
    address.prefix = server.substr(slash);
    while (address.prefix.ends_with('/')) address.prefix.pop_back();
    const std::string_view authority = address.authority;
    const bool bracketed = authority.starts_with('[');
    const auto host_end = bracketed ? authority.find(']') : std::min(authority.find(':'), authority.size());
    if (host_end == std::string_view::npos) return error;
    address.host = bracketed ? authority.substr(1, host_end - 1) : authority.substr(0, host_end);
    const std::string_view rest = authority.substr(host_end + (bracketed ? 1 : 0));
    address.port = rest.empty() ? "80" : rest.substr(1);
    unsigned port = 0;
    const auto [end, failure] = std::from_chars(address.port.data(), address.port.data() + address.port.size(), port);
    const bool whole = failure == std::errc{} && end == address.port.data() + address.port.size();
    const bool safe = address.host.find_first_of(" \t\r\n@?#") == std::string::npos && !address.host.empty();
    if ((!rest.empty() && rest.front() != ':') || !whole || port == 0 || port > 65535 || !safe) return error;
    return address;
}

// What would let a caller's text become another header or another request.
bool holds_control(std::string_view text) {
    return std::any_of(text.begin(), text.end(),
                       [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == '\x7f'; });
}

bool may_repeat(std::string_view method, const std::vector<HttpHeader>& headers) {
    if (method != "POST" && method != "PATCH") return true;
    return std::any_of(headers.begin(), headers.end(),
                       [](const HttpHeader& header) { return equal_ignoring_case(header.name, "Idempotency-Key"); });
}

}  // namespace

struct HttpClient::Parts {
    explicit Parts(std::string_view server_text) : server(server_text), address(parse_server(server_text)) {}

    // How far an exchange got when it failed.
    struct Failure {
        enum class Kind { broken, timed_out, bad_answer } kind;
        bool answer_begun;
        std::string detail;
        bool at_end = false;  // broken: the server closed, in order
    };

    template <class Start>
    error_code await(Start start);
    Status connect();
    bool kept_connection_is_open();
    std::optional<Failure> exchange(std::string_view method, const std::string& request, HttpAnswer& answer);
    std::optional<Failure> send(std::string_view bytes);
    std::optional<Failure> receive_more(bool answer_begun);
    Error describe(const Failure& failure, std::string_view method) const;
    Error unreachable(const std::string& what) const;
    void arm(std::chrono::milliseconds timeout);

    std::string server;
    Result<ServerAddress> address;
    asio::io_context context{1};
    Socket socket{context.get_executor()};
    Timer timer{context.get_executor()};
    std::uint64_t deadline = 0;  // which of the timer's settings counts
    bool timed_out = false;
    std::string input;  // received, not consumed
    std::array<char, 64 * 1024> buffer;
};

void HttpClient::Parts::arm(std::chrono::milliseconds timeout) {
    timed_out = false;
    timer.expires_after(timeout);
    timer.async_wait([this, mine = ++deadline](const error_code& error) {
        if (!error && mine == deadline) timed_out = true;
    });
}

// Starts one operation and runs the private loop until it is done or the time is up.
template <class Start>
error_code HttpClient::Parts::await(Start start) {
    std::optional<error_code> result;
    start([&result](const error_code& error) { result = error; });
    context.restart();
    while (!result && !timed_out) context.run_one();
    if (result) return *result;
    error_code ignored;
    socket.close(ignored);
    while (!result) context.run_one();
    return asio::error::timed_out;
}

Error HttpClient::Parts::unreachable(const std::string& what) const {
    return {"unreachable",
            "Cannot reach the server at " + server + ": " + what +
                ". Check that it is running and that the address is right (--server or DUEWHEEL_SERVER).",
            ""};
}

Status HttpClient::Parts::connect() {
    error_code error;
    socket.close(error);
    input.clear();
    tcp::resolver resolver(context);
    const auto found = resolver.resolve(address->host, address->port, error);
    if (error) return unreachable(error.message());
    for (const auto& entry : found) {
        socket.close(error);
        error = await([&](auto done) { socket.async_connect(entry.endpoint(), std::move(done)); });
        if (!error || timed_out) break;
    }
    if (timed_out) return unreachable("it did not accept the connection in time");
    if (error) return unreachable(error.message());
    socket.non_blocking(true, error);
    if (!error) socket.set_option(tcp::no_delay(true), error);
    if (error) return unreachable(error.message());
    return {};
}

// A server that closed an idle connection has told us so already; one that speaks unasked is not to be trusted.
bool HttpClient::Parts::kept_connection_is_open() {
    if (!socket.is_open() || !input.empty()) return false;
    error_code error;
    socket.read_some(asio::buffer(buffer), error);
    return error == asio::error::would_block || error == asio::error::try_again;
}

std::optional<HttpClient::Parts::Failure> HttpClient::Parts::send(std::string_view bytes) {
    while (!bytes.empty()) {
        error_code error;
        const std::size_t size = socket.write_some(asio::buffer(bytes.data(), bytes.size()), error);
        bytes.remove_prefix(size);
        if (error == asio::error::would_block || error == asio::error::try_again) {
            error = await([&](auto done) { socket.async_wait(Socket::wait_write, std::move(done)); });
        }
        if (timed_out) return Failure{Failure::Kind::timed_out, false, ""};
        // The server may have refused the request before its end and closed: its answer is worth reading.
        if (error) return std::nullopt;
    }
    return std::nullopt;
}

std::optional<HttpClient::Parts::Failure> HttpClient::Parts::receive_more(bool answer_begun) {
    for (;;) {
        error_code error;
        const std::size_t size = socket.read_some(asio::buffer(buffer), error);
        if (!error) {
            input.append(buffer.data(), size);
            return std::nullopt;
        }
        if (error == asio::error::would_block || error == asio::error::try_again) {
            error = await([&](auto done) { socket.async_wait(Socket::wait_read, std::move(done)); });
        }
        if (timed_out) return Failure{Failure::Kind::timed_out, answer_begun, ""};
        if (error) {
            return Failure{Failure::Kind::broken, answer_begun, error.message(), error == asio::error::eof};
        }
    }
}

std::optional<HttpClient::Parts::Failure> HttpClient::Parts::exchange(std::string_view method,
                                                                      const std::string& request, HttpAnswer& answer) {
    if (auto failure = send(request)) return failure;
    AnswerParser parser(method);
    AnswerParser::State state = AnswerParser::State::need_more;
    bool begun = false;
    while (state == AnswerParser::State::need_more) {
        auto failure = receive_more(begun);
        if (failure && failure->at_end) state = parser.end();
        if (failure && state != AnswerParser::State::complete) return failure;
        if (failure) break;
        begun = true;
        std::size_t consumed = 0;
        state = parser.read(input, consumed);
        input.erase(0, consumed);
    }
    if (state == AnswerParser::State::refused) {
        return Failure{Failure::Kind::bad_answer, true, std::string(parser.objection())};
    }
    answer = std::move(parser.answer());
    if (!parser.keeps_connection()) {
        error_code ignored;
        socket.close(ignored);
    }
    return std::nullopt;
}

Error HttpClient::Parts::describe(const Failure& failure, std::string_view method) const {
    if (failure.kind == Failure::Kind::bad_answer) {
        return {"bad_answer",
                "What answers at " + server + " does not look like a Duewheel server: " + failure.detail +
                    ". Check the address (--server or DUEWHEEL_SERVER).",
                ""};
    }
    const bool harmless = method == "GET" || method == "HEAD";
    const std::string what = failure.kind == Failure::Kind::timed_out
                                 ? "it did not answer in time"
                                 : "the connection broke before its answer was complete (" + failure.detail + ")";
    return unreachable(harmless ? what : what + "; whether the request was carried out is not known");
}

HttpClient::HttpClient(std::string_view server) : parts_(std::make_unique<Parts>(server)) {}
HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;

Result<HttpAnswer> HttpClient::request(std::string_view method, std::string_view target,
                                       const std::vector<HttpHeader>& headers, std::string_view body,
                                       std::chrono::milliseconds timeout) {
    Parts& parts = *parts_;
    if (!parts.address) return parts.address.error();
    bool clean = !holds_control(method) && !holds_control(target) && target.find(' ') == std::string_view::npos;
    std::string request(method);
    request.append(" ").append(parts.address->prefix).append(target).append(" HTTP/1.1\r\nHost: ");
    request.append(parts.address->authority).append("\r\n");
    for (const HttpHeader& header : headers) {
        clean = clean && !holds_control(header.name) && !holds_control(header.value);
        request.append(header.name).append(": ").append(header.value).append("\r\n");
    }
    if (!clean) return Error{"bad_request", "The request holds a line break or another control character.", ""};
    if (!body.empty() || method == "POST" || method == "PUT" || method == "PATCH") {
        request.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
    }
    request.append("\r\n").append(body);

    parts.arm(timeout);
    HttpAnswer answer;
    bool kept = parts.kept_connection_is_open();
    for (;;) {
        if (!kept) {
            if (Status connected = parts.connect(); !connected) return std::move(connected).error();
        }
        const auto failure = parts.exchange(method, request, answer);
        if (!failure) return answer;
        error_code ignored;
        parts.socket.close(ignored);
        const bool closed_unanswered = failure->kind == Parts::Failure::Kind::broken && !failure->answer_begun;
        if (!kept || !closed_unanswered || !may_repeat(method, headers)) return parts.describe(*failure, method);
        kept = false;
    }
}

}  // namespace duewheel

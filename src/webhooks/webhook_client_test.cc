#include "webhooks/webhook_client.h"

#include <atomic>
#include <cstdlib>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "net/loopback_fixture.h"

namespace duewheel::webhook_client_test {
namespace {

using std::chrono::milliseconds;
using Kind = WebhookAnswer::Kind;

IpAddress loopback() {
    return *parse_ip_address("127.0.0.1");
}

// A client on a loop of its own, which may reach this machine.
class Sender {
  public:
    explicit Sender(WebhookClient::Options options = {}, bool may_reach_loopback = true) {
        if (may_reach_loopback) options.addresses = AddressPolicy({*IpBlock::from("127.0.0.0/8")}, {});
        client_.emplace(loop_, std::move(options));
    }

    WebhookAnswer post(const std::string& url, std::string body = "body", milliseconds timeout = kPatience) {
        WebhookRequest request = to(url, std::move(body));
        request.timeout = timeout;
        return post(std::move(request));
    }
    WebhookAnswer post(WebhookRequest request) {
        std::optional<WebhookAnswer> got;
        client_->send(std::move(request), [&](WebhookAnswer answer) {
            got = std::move(answer);
            loop_.stop();
        });
        EXPECT_EQ(client_->in_flight(), 1u);
        loop_.run();
        EXPECT_EQ(client_->in_flight(), 0u);
        return got.value_or(WebhookAnswer{});
    }
    static WebhookRequest to(const std::string& url, std::string body) {
        WebhookRequest request;
        request.url = *WebhookUrl::from(url);
        request.body = std::move(body);
        request.timeout = kPatience;
        return request;
    }

    EventLoop& loop() { return loop_; }
    WebhookClient& client() { return *client_; }
    void destroy() { client_.reset(); }

  private:
    EventLoop loop_;
    std::optional<WebhookClient> client_;
};

std::string echo(const HttpRequest& request) {
    std::string text(request.method);
    text.append(" ").append(request.target);
    for (const char* name :
         {"Content-Type", "webhook-id", "X-Empty", "Accept", "Expect", "User-Agent", "Authorization"}) {
        text.append("|").append(request.header(name).value_or("-"));
    }
    return text.append("|").append(request.body);
}

TEST(WebhookClient, posts_exactly_its_request) {
    LoopbackServer server([](const HttpRequest& request, HttpReply reply) {
        reply.answer({.status = 202, .content_type = "text/plain", .body = echo(request)});
    });
    Sender sender;
    WebhookRequest request = Sender::to(server.url() + "/in/../box?a=%20", "some bytes");
    request.fields = {{"webhook-id", "7"}, {"X-Empty", ""}};
    const WebhookAnswer plain = sender.post(request);
    EXPECT_EQ(plain.kind, Kind::answered);
    EXPECT_EQ(plain.status, 202);
    EXPECT_EQ(plain.text, "POST /in/../box?a=%20|-|7||-|-|duewheel|-|some bytes");
    request.fields.emplace_back("content-type", "text/x");
    request.body.clear();
    EXPECT_EQ(sender.post(request).text, "POST /in/../box?a=%20|text/x|7||-|-|duewheel|-|");
    EXPECT_EQ(server.counters().connections_accepted, 1u) << "the connection is kept";
}

// Answers the first request, reads each later one, and hangs up without an answer.
class HangsUp {
  public:
    HangsUp() : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(::listen(listener_, 16), 0);
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this] {
            for (int socket = ::accept(listener_, nullptr, nullptr); socket >= 0;
                 socket = ::accept(listener_, nullptr, nullptr)) {
                serve(socket);
                ::close(socket);
            }
        });
    }
    ~HangsUp() {
        ::shutdown(listener_, SHUT_RDWR);
        thread_.join();
        ::close(listener_);
    }
    std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/"; }
    int requests() const { return requests_; }

  private:
    void serve(int socket) {
        char buffer[4096];
        while (::recv(socket, buffer, sizeof buffer, 0) > 0) {
            if (++requests_ > 1) return;
            constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
            ::send(socket, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
        }
    }

    const int listener_;
    int port_ = 0;
    std::atomic<int> requests_ = 0;
    std::thread thread_;
};

// The library sent it again by itself, on another connection: up to six posts in one attempt.
TEST(WebhookClient, a_kept_connection_that_ends_without_an_answer_is_one_post) {
    HangsUp server;
    Sender sender;
    EXPECT_EQ(sender.post(server.url()).status, 200);
    const WebhookAnswer answer = sender.post(server.url());
    EXPECT_EQ(answer.kind, Kind::broken);
    EXPECT_EQ(answer.text, "The connection ended without a response.");
    EXPECT_EQ(server.requests(), 2);
    EXPECT_EQ(sender.post(server.url()).kind, Kind::broken) << "and so on a fresh one";
    EXPECT_EQ(server.requests(), 3);
}

TEST(WebhookClient, sends_many_side_by_side) {
    LoopbackServer server([](const HttpRequest& request, HttpReply reply) {
        reply.answer({.status = 200, .content_type = "text/plain", .body = std::string(request.body)});
    });
    WebhookClient::Options options;
    options.connections_per_host_max = 8;
    Sender sender(options);
    constexpr int kRequests = 500;
    int answered = 0;
    for (int i = 0; i < kRequests; ++i) {
        sender.client().send(Sender::to(server.url(), std::to_string(i)), [&, i](const WebhookAnswer& answer) {
            EXPECT_EQ(answer.status, 200);
            EXPECT_EQ(answer.text, std::to_string(i));
            if (++answered == kRequests) sender.loop().stop();
        });
    }
    EXPECT_EQ(sender.client().in_flight(), std::size_t{kRequests});
    sender.loop().run();
    EXPECT_EQ(answered, kRequests);
    EXPECT_LE(server.counters().connections_accepted, 8u);
}

// A client that may set a target must not make the server connect to addresses that the client cannot reach.
TEST(WebhookClient, reaches_no_address_that_is_forbidden) {
    int called = 0;
    LoopbackServer canary([&](const HttpRequest&, HttpReply reply) {
        ++called;
        reply.answer({.status = 200, .content_type = "text/plain", .body = ""});
    });
    Sender sender({}, false);
    for (const char* const host : {"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"}) {
        const WebhookAnswer answer =
            sender.post("http://" + std::string(host) + ":" + std::to_string(canary.port()) + "/");
        EXPECT_EQ(answer.kind, Kind::forbidden) << host << ": " << answer.text;
        EXPECT_NE(answer.text.find(" is an "), std::string::npos) << answer.text;
    }
    EXPECT_EQ(canary.counters().connections_accepted, 0u);
    EXPECT_EQ(called, 0);
}

TEST(WebhookClient, refuses_to_post_to_its_own_server) {
    LoopbackServer own([](const HttpRequest&, HttpReply reply) {
        reply.answer({.status = 200, .content_type = "text/plain", .body = ""});
    });
    EventLoop loop;
    WebhookClient::Options options;
    options.addresses =
        AddressPolicy({*IpBlock::from("127.0.0.0/8")}, {{loopback(), static_cast<std::uint16_t>(own.port())}});
    WebhookClient client(loop, options);
    std::optional<WebhookAnswer> got;
    client.send(Sender::to(own.url(), ""), [&](WebhookAnswer answer) {
        got = std::move(answer);
        loop.stop();
    });
    loop.run();
    ASSERT_TRUE(got);
    EXPECT_EQ(got->kind, Kind::forbidden);
    EXPECT_EQ(own.counters().connections_accepted, 0u);
}

TEST(WebhookClient, follows_no_redirect_and_takes_no_proxy_from_the_environment) {
    LoopbackServer canary([](const HttpRequest&, HttpReply reply) {
        reply.answer({.status = 200, .content_type = "text/plain", .body = ""});
    });
    LoopbackServer server([&](const HttpRequest&, HttpReply reply) {
        reply.answer(
            {.status = 307, .content_type = "text/plain", .body = "", .headers = {{"Location", canary.url()}}});
    });
    for (const char* name : {"http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"}) {
        ::setenv(name, canary.url().c_str(), 1);
    }
    EXPECT_EQ(Sender().post(server.url()).status, 307);
    for (const char* name : {"http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"}) ::unsetenv(name);
    EXPECT_EQ(canary.counters().connections_accepted, 0u);
}

TEST(WebhookClient, returns_the_retry_after_of_the_target) {
    LoopbackServer server([](const HttpRequest&, HttpReply reply) {
        reply.answer(
            {.status = 429, .content_type = "text/plain", .body = "slowly", .headers = {{"Retry-After", "17"}}});
    });
    const WebhookAnswer answer = Sender().post(server.url());
    EXPECT_EQ(answer.status, 429);
    EXPECT_EQ(answer.retry_after_s, 17);
    EXPECT_EQ(answer.text, "slowly");
}

// libcurl says nothing of the first, cuts the second, and reads two thousand seconds out of the third.
TEST(WebhookClient, reads_numbers_of_seconds_that_its_library_does_not) {
    for (const auto& [text, seconds] : {std::pair("99999999999999999999", INT64_MAX), std::pair("3.5", INT64_C(4)),
                                        std::pair("2026-11-25T06:00:00Z", INT64_C(0))}) {
        LoopbackServer server([said = std::string(text)](const HttpRequest&, HttpReply reply) {
            reply.answer({.status = 503, .content_type = "text/plain", .body = "", .headers = {{"Retry-After", said}}});
        });
        EXPECT_EQ(Sender().post(server.url()).retry_after_s, seconds) << text;
    }
}

TEST(WebhookClient, gives_up_on_one_that_does_not_answer) {
    std::vector<HttpReply> kept;
    LoopbackServer server([&](const HttpRequest&, HttpReply reply) { kept.push_back(std::move(reply)); });
    Sender sender;
    const WebhookAnswer answer = sender.post(server.url(), "body", milliseconds(30));
    EXPECT_EQ(answer.kind, Kind::timed_out) << answer.text;
    EXPECT_FALSE(answer.text.empty());
    server.on_loop([&] {
        for (HttpReply& reply : kept) reply.answer({.status = 200, .content_type = "text/plain", .body = ""});
        kept.clear();
    });
}

TEST(WebhookClient, distinguishes_posts_that_may_have_arrived) {
    int port = 0;
    {
        LoopbackServer server([](const HttpRequest&, HttpReply reply) {
            reply.answer({.status = 200, .content_type = "text/plain", .body = ""});
        });
        port = server.port();
    }
    Sender sender;
    EXPECT_EQ(sender.post("http://127.0.0.1:" + std::to_string(port)).kind, Kind::unreachable) << "nobody listens";
    const Kind nowhere = sender.post("http://name.invalid/").kind;
    EXPECT_TRUE(nowhere == Kind::unreachable || nowhere == Kind::timed_out)
        << "the second where no name server answers";
}

TEST(WebhookClient, reads_a_response_up_to_its_limit) {
    LoopbackServer server([](const HttpRequest& request, HttpReply reply) {
        const std::size_t size = std::stoul(std::string(request.body));
        reply.answer({.status = 200, .content_type = "text/plain", .body = std::string(size, 'x')});
    });
    WebhookClient::Options options;
    options.answer_bytes_max = 10'000;
    Sender sender(options);
    for (const char* size : {"10000", "10001", "5000000"}) {
        const WebhookAnswer answer = sender.post(server.url(), size);
        EXPECT_EQ(answer.kind, Kind::answered) << size << ": " << answer.text;
        EXPECT_EQ(answer.status, 200);
        EXPECT_EQ(answer.text, std::string(WebhookClient::kTextBytesMax, 'x'));
        EXPECT_EQ(answer.end, answer.text);
    }
}

TEST(WebhookClient, may_be_destroyed_with_requests_in_flight) {
    std::vector<HttpReply> kept;
    LoopbackServer server([&](const HttpRequest&, HttpReply reply) { kept.push_back(std::move(reply)); });
    Sender sender;
    int called = 0;
    for (int i = 0; i < 20; ++i) {
        sender.client().send(Sender::to(server.url(), ""), [&](const WebhookAnswer&) { ++called; });
    }
    std::thread waits([&] {
        server.await([&] { return kept.size() == 20; });
        sender.loop().post([&] {
            sender.destroy();
            sender.loop().stop();
        });
    });
    sender.loop().run();
    waits.join();
    EXPECT_EQ(called, 0);
    server.on_loop([&] {
        for (HttpReply& reply : kept) reply.answer({.status = 200, .content_type = "text/plain", .body = ""});
        kept.clear();
    });
}

TEST(WebhookClient, may_be_destroyed_by_its_callback) {
    LoopbackServer server([](const HttpRequest&, HttpReply reply) {
        reply.answer({.status = 200, .content_type = "text/plain", .body = ""});
    });
    Sender sender;
    int called = 0;
    for (int i = 0; i < 20; ++i) {
        sender.client().send(Sender::to(server.url(), ""), [&](const WebhookAnswer&) {
            ++called;
            sender.destroy();
            sender.loop().stop();
        });
    }
    sender.loop().run();
    EXPECT_EQ(called, 1);
}

}  // namespace
}  // namespace duewheel::webhook_client_test

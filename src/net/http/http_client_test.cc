#include "net/http/http_client.h"

#include <cstdlib>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "net/loopback_fixture.h"

namespace duewheel::http_client_test {
namespace {

using std::chrono::milliseconds;

// Accepts one connection after the other and plays one script on each: what to send once a request's head was read.
class ScriptedServer {
  public:
    explicit ScriptedServer(std::vector<std::string> scripts) : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(::listen(listener_, 10), 0);
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this, scripts = std::move(scripts)] {
            for (std::size_t i = 0; i < scripts.size(); ++i) {
                play(scripts[i]);
                if (i == 0) first_closed_.set_value();
            }
        });
    }
    ~ScriptedServer() {
        thread_.join();
        ::close(listener_);
    }
    std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
    // Returns once the first connection's script is over and its end was sent.
    void await_first_closed() { first_closed_.get_future().wait(); }

  private:
    // A '#' in the script waits for another request's head.
    void play(const std::string& script) {
        const int client = ::accept(listener_, nullptr, nullptr);
        std::string_view rest = script;
        while (read_head(client)) {
            const auto end = std::min(rest.find('#'), rest.size());
            (void)!::send(client, rest.data(), end, MSG_NOSIGNAL);
            if (end == rest.size()) break;
            rest.remove_prefix(end + 1);
        }
        ::close(client);
    }
    static bool read_head(int client) {
        std::string head;
        char c = 0;
        while (!head.ends_with("\r\n\r\n") && ::recv(client, &c, 1, 0) == 1) head += c;
        return head.ends_with("\r\n\r\n");
    }

    int listener_;
    int port_ = 0;
    std::promise<void> first_closed_;
    std::thread thread_;
};

TEST(HttpClient, sends_the_request_and_reads_the_response) {
    LoopbackServer server([](const HttpRequest& request, HttpReply reply) {
        std::string text(request.method);
        text.append(" ").append(request.target).append(" ").append(request.header("X-One").value_or("-"));
        text.append(" ").append(request.body);
        reply.answer({.status = 201, .content_type = "text/plain", .body = text, .headers = {{"X-Two", "2"}}});
    });
    HttpClient client({.server = server.url() + "/prefix/"});
    for (int i = 0; i < 3; ++i) {
        const auto answer = client.request("POST", "/a?b", {{"X-One", "1"}}, "body");
        ASSERT_TRUE(answer.ok()) << answer.error().message;
        EXPECT_EQ(answer->status, 201);
        EXPECT_EQ(answer->body, "POST /prefix/a?b 1 body");
        EXPECT_EQ(answer->header("x-two"), "2");
    }
    EXPECT_EQ(client.request("HEAD", "/")->body, "");
    EXPECT_EQ(client.request("GET", "/")->body, "GET /prefix/ - ");
    EXPECT_EQ(server.counters().connections_accepted, 1u);
}

TEST(HttpClient, carries_large_bodies_both_ways) {
    LoopbackServer server(
        [](const HttpRequest& request, HttpReply reply) { reply.answer({.body = std::string(request.body)}); });
    HttpClient client({.server = server.url()});
    const std::string body(4 * 1024 * 1024, 'b');
    const auto answer = client.request("PUT", "/", {}, body);
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer->body, body);
    EXPECT_EQ(client.request("PUT", "/", {}, body + "b")->status, 413);
    EXPECT_EQ(client.request("PUT", "/", {}, "small")->body, "small") << "on a new connection";
}

TEST(HttpClient, reads_every_kind_of_framing) {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", "abc"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\n\r\n", "abc"},
        {"HTTP/1.0 200 OK\r\n\r\nabc", "abc"},
        {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200\r\nContent-Length: 3\r\n\r\nabc", "abc"},
        {"HTTP/1.1 204 No Content\r\n\r\n", ""},
    };
    for (const auto& [script, body] : cases) {
        ScriptedServer server({script});
        const auto answer = HttpClient({.server = server.url()}).request("GET", "/");
        ASSERT_TRUE(answer.ok()) << script << answer.error().message;
        EXPECT_EQ(answer->body, body);
    }
}

TEST(HttpClient, refuses_answers_that_are_not_http) {
    for (const std::string script :
         {"SSH-2.0-x\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"}) {
        ScriptedServer server({script});
        const auto answer = HttpClient({.server = server.url()}).request("GET", "/");
        ASSERT_FALSE(answer.ok()) << script;
        EXPECT_EQ(answer.error().code, "bad_answer"_code);
    }
}

TEST(HttpClient, refuses_answers_that_are_too_large) {
    const std::string head = "HTTP/1.1 200 OK\r\n";
    for (const std::string& script :
         {head + "Content-Length: 4\r\n\r\nabcd", head + "Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n",
          head + "X: " + std::string(70'000, 'x') + "\r\nContent-Length: 0\r\n\r\n"}) {
        ScriptedServer server({script});
        const auto answer = HttpClient({.server = server.url(), .body_bytes_max = 3}).request("GET", "/");
        ASSERT_FALSE(answer.ok()) << script.substr(0, 80);
        EXPECT_EQ(answer.error().code, "bad_answer"_code) << answer.error().message;
    }
    ScriptedServer server({head + "Content-Length: 3\r\n\r\nabc"});
    EXPECT_TRUE(HttpClient({.server = server.url(), .body_bytes_max = 3}).request("GET", "/").ok());
}

TEST(HttpClient, sends_its_token) {
    std::string authorization;
    LoopbackServer server([&](const HttpRequest& request, HttpReply reply) {
        authorization = request.header("Authorization").value_or("-");
        reply.answer({});
    });
    EXPECT_TRUE(HttpClient({.server = server.url(), .token = "abc.def"}).request("GET", "/").ok());
    EXPECT_EQ(authorization, "Bearer abc.def");
    EXPECT_TRUE(HttpClient({.server = server.url()}).request("GET", "/").ok());
    EXPECT_EQ(authorization, "-");
}

HttpResponse redirect_to(std::string location, int status = 307) {
    return {.status = status, .headers = {{"Location", std::move(location)}}};
}

TEST(HttpClient, follows_a_redirect_with_method_headers_body_and_token) {
    LoopbackServer owner([](const HttpRequest& request, HttpReply reply) {
        std::string text(request.method);
        text.append(" ").append(request.target).append(" ").append(request.header("X-One").value_or("-"));
        text.append(" ").append(request.header("Authorization").value_or("-")).append(" ").append(request.body);
        reply.answer({.status = 201, .body = text});
    });
    int requests = 0;
    LoopbackServer server([&](const HttpRequest& request, HttpReply reply) {
        ++requests;
        reply.answer(redirect_to(owner.url() + std::string(request.target)));
    });
    HttpClient client({.server = server.url(), .token = "abc.def"});
    for (const std::string method : {"POST", "PATCH", "DELETE", "PUT"}) {
        const auto answer = client.request(method, "/a%2Fb/../c?d=%20", {{"X-One", "1"}}, "body");
        ASSERT_TRUE(answer.ok()) << answer.error().message;
        EXPECT_EQ(answer->status, 201);
        EXPECT_EQ(answer->body, method + " /a%2Fb/../c?d=%20 1 Bearer abc.def body");
    }
    EXPECT_EQ(client.request("GET", "/")->body, "GET / - Bearer abc.def ");
    EXPECT_EQ(requests, 5) << "each request starts at the server that was named: the owner may be another one";
    EXPECT_EQ(server.counters().connections_accepted, 1u);
    EXPECT_EQ(owner.counters().connections_accepted, 1u);
}

TEST(HttpClient, follows_a_redirect_on_the_same_server) {
    LoopbackServer server([](const HttpRequest& request, HttpReply reply) {
        if (request.target == "/new") return reply.answer({.body = "here"});
        reply.answer(redirect_to("/new"));
    });
    EXPECT_EQ(HttpClient({.server = server.url()}).request("GET", "/old")->body, "here");
}

// Others change the method, or are none of a node.
TEST(HttpClient, follows_no_other_status) {
    LoopbackServer server([](const HttpRequest& request, HttpReply reply) {
        reply.answer(redirect_to("http://127.0.0.1:1/", std::stoi(std::string(request.target.substr(1)))));
    });
    for (const int status : {300, 301, 302, 303, 308}) {
        EXPECT_EQ(HttpClient({.server = server.url()}).request("GET", "/" + std::to_string(status))->status, status);
    }
}

TEST(HttpClient, stops_after_some_redirects_in_a_row) {
    int requests = 0;
    LoopbackServer server([&](const HttpRequest& request, HttpReply reply) {
        ++requests;
        if (request.target == "/0") return reply.answer({.body = "end"});
        const int left = std::stoi(std::string(request.target.substr(1)));
        reply.answer(redirect_to("/" + std::to_string(left - 1)));
    });
    HttpClient client({.server = server.url()});
    EXPECT_EQ(client.request("GET", "/" + std::to_string(HttpClient::kRedirectsMax))->body, "end");
    requests = 0;
    const auto answer = client.request("GET", "/100");
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "bad_redirect"_code);
    EXPECT_NE(answer.error().message.find("do not agree"), std::string::npos) << answer.error().message;
    EXPECT_EQ(requests, HttpClient::kRedirectsMax + 1);
    EXPECT_EQ(client.request("GET", "/0")->body, "end") << "the next request counts anew";
}

TEST(HttpClient, refuses_redirects_that_name_no_server) {
    std::string location;
    LoopbackServer server([&](const HttpRequest&, HttpReply reply) { reply.answer(redirect_to(location)); });
    HttpClient client({.server = server.url()});
    for (const std::string bad : {"", "ftp://h/", "file:///etc/passwd", "http://u@h/", "http://h:x/", "http://a b/"}) {
        location = bad;
        const auto answer = client.request("GET", "/");
        ASSERT_FALSE(answer.ok()) << bad;
        EXPECT_EQ(answer.error().code, "bad_redirect"_code) << bad;
        EXPECT_NE(answer.error().message.find("kafka.log.url"), std::string::npos) << answer.error().message;
    }
}

TEST(HttpClient, says_that_the_server_of_a_redirect_cannot_be_reached) {
    LoopbackServer server(
        [](const HttpRequest&, HttpReply reply) { reply.answer(redirect_to("http://127.0.0.1:1/gone")); });
    const auto answer = HttpClient({.server = server.url()}).request("GET", "/");
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "unreachable"_code);
    EXPECT_NE(answer.error().message.find("http://127.0.0.1:1, to which " + server.url() + " redirects"),
              std::string::npos)
        << answer.error().message;
}

// A proxy of the environment cannot reach this machine's loopback addresses.
TEST(HttpClient, uses_no_proxy_for_a_loopback_address) {
    ::setenv("http_proxy", "http://127.0.0.1:1", 1);
    ScriptedServer server({"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"});
    EXPECT_TRUE(HttpClient({.server = server.url()}).request("GET", "/").ok());
    const auto answer = HttpClient({.server = "http://server.invalid"}).request("GET", "/");
    ::unsetenv("http_proxy");
    ASSERT_FALSE(answer.ok());
    EXPECT_NE(answer.error().message.find("Connection refused"), std::string::npos) << answer.error().message;
}

constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

TEST(HttpClient, reconnects_if_the_kept_connection_was_closed) {
    ScriptedServer server({kOk, kOk, kOk});
    HttpClient client({.server = server.url()});
    for (int i = 0; i < 3; ++i) {
        const auto answer = client.request("GET", "/");
        ASSERT_TRUE(answer.ok()) << answer.error().message;
        EXPECT_EQ(answer->body, "ok");
    }
}

TEST(HttpClient, sees_before_sending_that_the_kept_connection_was_closed) {
    ScriptedServer server({kOk, kOk});
    HttpClient client({.server = server.url()});
    EXPECT_TRUE(client.request("GET", "/").ok());
    server.await_first_closed();
    const auto answer = client.request("POST", "/");
    ASSERT_TRUE(answer.ok()) << "a POST is not repeated, so it must not be sent into a closed connection: "
                             << answer.error().message;
}

TEST(HttpClient, retries_only_idempotent_requests) {
    const auto second_request = [](const std::string& method, const std::vector<HttpHeader>& headers) {
        // The second request is read in full and then the connection breaks without a byte.
        ScriptedServer server({std::string(kOk) + "#", kOk});
        HttpClient client({.server = server.url()});
        EXPECT_TRUE(client.request("GET", "/").ok());
        const auto answer = client.request(method, "/", headers);
        if (answer.ok()) return std::string("ok");
        return answer.error().message;
    };
    EXPECT_EQ(second_request("GET", {}), "ok");
    EXPECT_EQ(second_request("DELETE", {}), "ok");
    EXPECT_EQ(second_request("POST", {{"idempotency-key", "k"}}), "ok");
    EXPECT_NE(second_request("POST", {}).find("unknown whether"), std::string::npos);
}

TEST(HttpClient, does_not_retry_after_a_response_has_started) {
    ScriptedServer server({std::string(kOk) + "#HTTP/1.1 200 OK\r\nContent-Le"});
    HttpClient client({.server = server.url()});
    EXPECT_TRUE(client.request("GET", "/").ok());
    const auto answer = client.request("GET", "/");
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "unreachable"_code);
}

TEST(HttpClient, names_the_server_it_cannot_reach_and_what_to_check) {
    int port = 0;
    {
        LoopbackServer server([](const HttpRequest&, HttpReply reply) { reply.answer({}); });
        port = server.port();
    }
    const std::string url = "http://127.0.0.1:" + std::to_string(port);
    const auto answer = HttpClient({.server = url}).request("GET", "/");
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "unreachable"_code);
    EXPECT_NE(answer.error().message.find(url), std::string::npos);
    EXPECT_NE(answer.error().message.find("Check that it is running"), std::string::npos);
}

TEST(HttpClient, gives_up_when_the_time_is_up) {
    std::optional<HttpReply> kept;
    LoopbackServer server([&](const HttpRequest&, HttpReply reply) { kept = std::move(reply); });
    HttpClient client({.server = server.url()});
    const auto answer = client.request("GET", "/", {}, {}, milliseconds(30));
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, "unreachable"_code);
    EXPECT_NE(answer.error().message.find("in time"), std::string::npos);
    EXPECT_TRUE(server.await([&] { return kept && kept->client_gone(); })) << "the client must not leave it open";
    server.on_loop([&] { kept.reset(); });
}

TEST(HttpClient, takes_a_response_without_an_end_as_it_arrives) {
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    ScriptedServer server(
        {head + "one#", head + "two", "HTTP/1.1 503 Full\r\nContent-Length: 4\r\n\r\nfull", head + "#"});
    HttpClient client({.server = server.url()});
    std::string taken;
    const auto take = [&](std::string_view bytes) { taken += bytes; };
    const auto stopped = client.stream("/", take, [&] { return taken.empty(); });
    ASSERT_TRUE(stopped.ok()) << stopped.error().message;
    EXPECT_EQ(taken, "one");
    const auto forever = [] { return true; };
    const auto ended = client.stream("/", take, forever);
    ASSERT_TRUE(ended.ok()) << ended.error().message;
    EXPECT_EQ(taken, "onetwo");
    const auto refused = client.stream("/", take, forever);
    ASSERT_TRUE(refused.ok()) << refused.error().message;
    EXPECT_EQ(refused->status, 503);
    EXPECT_EQ(refused->body, "full");
    EXPECT_EQ(taken, "onetwo") << "a refusal is no part of the stream";
    const auto silent = client.stream("/", take, forever, std::chrono::seconds(1));
    ASSERT_FALSE(silent.ok());
    EXPECT_EQ(silent.error().code, "unreachable"_code);
}

TEST(HttpClient, refuses_addresses_and_requests_it_cannot_send) {
    for (const std::string url :
         {"", "127.0.0.1:1", "ftp://127.0.0.1:1", "http://", "http://h:0", "http://h:x", "http://h:65536",
          "http://[::1", "http://a b:1", "http://u@h:1", "http://h:1/?a", "http://h:1/#a", "http://h:1/\n"}) {
        const auto answer = HttpClient({.server = url}).request("GET", "/");
        ASSERT_FALSE(answer.ok()) << url;
        EXPECT_EQ(answer.error().code, "bad_address"_code) << url;
    }
    HttpClient client({.server = "http://127.0.0.1:1"});
    EXPECT_EQ(client.request("GET", "/", {{"X", "a\r\nY: b"}}).error().code, "bad_request"_code);
    EXPECT_EQ(client.request("GET", "/a b").error().code, "bad_request"_code);
    EXPECT_EQ(client.request("GET", "/\n").error().code, "bad_request"_code);
    EXPECT_EQ(HttpClient({.token = "a\nb"}).request("GET", "/").error().code, "bad_request"_code);
}

}  // namespace
}  // namespace duewheel::http_client_test

// The server with TLS: negotiation, refusals, and the same behaviour as for plain connections.
#include <fstream>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/error_codes.h"
#include "net/http/http_client.h"
#include "net/http/http_server.h"
#include "net/loopback_fixture.h"
#include "net/tls_client_fixture.h"
#include "net/tls_context.h"
#include "shared/system_clock.h"
#include "support/certificates.h"
#include "support/temporary_directory.h"

namespace duewheel::http_server_tls_test {
namespace {

using std::chrono::milliseconds;

const CertificateAuthority& authority() {
    static const CertificateAuthority one;
    return one;
}

std::shared_ptr<const TlsContext> context_of(const CertificateAndKey& pair, const std::string& client_ca = "") {
    const TemporaryDirectory directory;
    const TlsFiles files{directory.at("cert.pem"), directory.at("key.pem"),
                         client_ca.empty() ? "" : directory.at("ca.pem")};
    std::ofstream(files.certificate) << pair.certificate;
    std::ofstream(files.key) << pair.key;
    if (!client_ca.empty()) std::ofstream(files.client_ca) << client_ca;
    ::chmod(files.key.c_str(), 0600);
    auto loaded = TlsContext::load(files, wall_now_ms());
    EXPECT_TRUE(loaded.ok()) << loaded.error().message;
    return *std::move(loaded);
}

// A server with TLS, which notes the failures of handshakes.
class TlsServer {
  public:
    explicit TlsServer(HttpHandler handler = echo, const HttpLimits& limits = {}, const std::string& client_ca = "")
        : server_(std::move(handler), limits) {
        use(authority().issue(), client_ca);
        server_.on_loop([this] {
            server_.server().on_handshake_failure([this](const TlsFailure& failure) { failures_.push_back(failure); });
        });
    }

    void use(const CertificateAndKey& pair, const std::string& client_ca = "") {
        server_.on_loop([&, context = context_of(pair, client_ca)] { server_.server().use_tls(context); });
    }
    int port() const { return server_.port(); }
    LoopbackServer& loopback() { return server_; }
    std::uint64_t count(TlsOutcome outcome) {
        return server_.counters().tls_handshakes[static_cast<std::size_t>(outcome)];
    }
    bool await(TlsOutcome outcome, std::uint64_t count = 1) {
        return server_.await([this, outcome, count] {
            return server_.server().counters().tls_handshakes[static_cast<std::size_t>(outcome)] == count;
        });
    }
    std::string last_reason() {
        std::string reason;
        (void)server_.counters();  // what I/O threads tell is there now
        server_.on_loop([&] { reason = failures_.empty() ? "none" : failures_.back().reason; });
        return reason;
    }

  private:
    std::vector<TlsFailure> failures_;  // of the server's thread, which closes connections when it ends
    LoopbackServer server_;
};

TlsClient::Options trusting() {
    return {.authority = authority().certificate()};
}
TlsClient::Options of_version(int version) {
    TlsClient::Options options = trusting();
    options.version_max = version;
    return options;
}

TEST(HttpServerTls, serves_requests_and_says_who_sent_them) {
    TlsServer server([](const HttpRequest& request, HttpReply reply) {
        EXPECT_TRUE(request.peer.is_tls);
        EXPECT_EQ(request.peer.address, "127.0.0.1");
        EXPECT_TRUE(request.peer.certificate_names.empty());
        echo(request, std::move(reply));
    });
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        TlsClient client(server.port(), of_version(version));
        ASSERT_TRUE(client.shake_hands()) << client.error();
        EXPECT_EQ(SSL_version(client.session()), version);
        EXPECT_TRUE(client.send(post("/a", "one") + get("/b") + get("/c")));
        const std::string first = client.answer();
        EXPECT_EQ(body_of(first), "POST /a|one");
        EXPECT_NE(first.find("\r\nX-Content-Type-Options: nosniff\r\n"), std::string::npos) << first;
        EXPECT_NE(first.find("\r\nStrict-Transport-Security: max-age=31536000\r\n"), std::string::npos) << first;
        EXPECT_EQ(body_of(client.answer()), "GET /b|");
        EXPECT_EQ(body_of(client.answer()), "GET /c|");
    }
    EXPECT_EQ(server.count(TlsOutcome::full), 2u);
    EXPECT_EQ(server.loopback().counters().requests, 6u);
}

TEST(HttpServerTls, understands_bytes_that_come_one_by_one) {
    TlsServer server;
    TlsClient::Options options = trusting();
    options.in_single_bytes = true;
    TlsClient client(server.port(), options);
    ASSERT_TRUE(client.shake_hands()) << client.error();
    EXPECT_TRUE(client.send(post("/a", "one") + get("/b")));
    EXPECT_EQ(body_of(client.answer()), "POST /a|one");
    EXPECT_EQ(body_of(client.answer()), "GET /b|");
}

TEST(HttpServerTls, carries_large_bodies_both_ways) {
    TlsServer server;
    TlsClient client(server.port(), trusting());
    ASSERT_TRUE(client.shake_hands()) << client.error();
    std::string body(3u << 20, 'x');
    for (std::size_t i = 0; i < body.size(); i += 1000) body[i] = static_cast<char>('a' + i % 26);
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(client.send(post("/a", body)));
        EXPECT_EQ(body_of(client.answer()), "POST /a|" + body);
    }
}

TEST(HttpServerTls, resumes_sessions) {
    TlsServer server;
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        TlsClient first(server.port(), of_version(version));
        ASSERT_TRUE(first.shake_hands());
        EXPECT_TRUE(first.send(get("/")));
        EXPECT_EQ(body_of(first.answer()), "GET /|");  // with TLS 1.3, tickets come after the handshake
        TlsClient::Options options = of_version(version);
        options.session = SSL_get1_session(first.session());
        {
            TlsClient second(server.port(), options);
            ASSERT_TRUE(second.shake_hands());
            EXPECT_EQ(SSL_session_reused(second.session()), 1) << version;
            EXPECT_TRUE(second.send(get("/")));
            EXPECT_EQ(body_of(second.answer()), "GET /|");
        }
        SSL_SESSION_free(options.session);
    }
    EXPECT_EQ(server.count(TlsOutcome::full), 2u);
    EXPECT_EQ(server.count(TlsOutcome::resumed), 2u);
}

TEST(HttpServerTls, refuses_versions_before_1_2) {
    TlsServer server;
    for (const int version : {TLS1_VERSION, TLS1_1_VERSION}) {
        TlsClient client(server.port(), of_version(version));
        EXPECT_FALSE(client.shake_hands());
        EXPECT_NE(client.error().find("protocol version"), std::string::npos) << client.error();
    }
    EXPECT_EQ(server.count(TlsOutcome::old_version), 2u);
}

TEST(HttpServerTls, refuses_ciphers_without_forward_secrecy_or_authentication_of_records) {
    TlsServer server;
    TlsClient::Options options = of_version(TLS1_2_VERSION);
    std::uint64_t refused = 0;
    for (const char* cipher :
         {"ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384", "ECDHE-ECDSA-AES128-CCM", "NULL"}) {
        options.ciphers12 = cipher;
        TlsClient client(server.port(), options);
        EXPECT_FALSE(client.shake_hands()) << cipher;
        EXPECT_EQ(server.count(TlsOutcome::no_common_cipher), ++refused) << cipher;
    }
    for (const char* cipher :
         {"ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305"}) {
        options.ciphers12 = cipher;
        TlsClient client(server.port(), options);
        EXPECT_TRUE(client.shake_hands()) << cipher;
    }
}

TEST(HttpServerTls, speaks_http_1_1_only) {
    TlsServer server;
    TlsClient::Options options = trusting();
    options.protocols = "\x02h2\x08http/1.1";
    TlsClient both(server.port(), options);
    ASSERT_TRUE(both.shake_hands());
    const unsigned char* chosen = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(both.session(), &chosen, &size);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(chosen), size), "http/1.1");
    options.protocols = "\x02h2";
    TlsClient other(server.port(), options);
    EXPECT_FALSE(other.shake_hands());
    EXPECT_EQ(server.count(TlsOutcome::no_common_cipher), 1u);
    EXPECT_EQ(server.last_reason(), "no application protocol");
}

TEST(HttpServerTls, does_not_renegotiate) {
    TlsServer server;
    TlsClient client(server.port(), of_version(TLS1_2_VERSION));
    ASSERT_TRUE(client.shake_hands());
    EXPECT_FALSE(client.renegotiate());
    EXPECT_NE(client.error().find("no renegotiation"), std::string::npos) << client.error();
    EXPECT_EQ(server.count(TlsOutcome::full), 1u);
}

TEST(HttpServerTls, tells_a_client_without_tls_to_use_https) {
    TlsServer server;
    RawClient client(server.port());
    client.send(get("/"));
    const std::string answer = client.rest();
    EXPECT_EQ(status_of(answer), 400);
    EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos);
    EXPECT_EQ(
        body_of(answer),
        "{\"title\":\"Bad Request\",\"status\":400,\"code\":\"tls_required\",\"detail\":\"This port speaks TLS: use "
        "https instead of http.\"}");
    EXPECT_EQ(server.count(TlsOutcome::plain_http), 1u);
    EXPECT_EQ(server.loopback().counters().requests, 0u);
}

TEST(HttpServerTls, tells_a_client_with_tls_that_the_port_is_plain) {
    LoopbackServer server(echo);
    TlsClient client(server.port(), trusting());
    EXPECT_FALSE(client.shake_hands());
    EXPECT_NE(client.error().find("alert handshake failure"), std::string::npos) << client.error();
    EXPECT_EQ(client.raw().rest(), "") << "closed";
    EXPECT_EQ(server.counters().tls_handshakes[static_cast<std::size_t>(TlsOutcome::plain_listener)], 1u);
    EXPECT_EQ(server.counters().refused_malformed, 0u);
}

TEST(HttpServerTls, ends_what_is_neither_tls_nor_http) {
    TlsServer server;
    for (const std::string& bytes :
         {std::string(100, '\0'), std::string("\x16\x03\x01\xff\xff\xff"), std::string("\x80\x2e\x01\x03\x01")}) {
        RawClient client(server.port());
        client.send(bytes);
        client.end_sending();
        client.rest();
    }
    EXPECT_TRUE(server.loopback().await([&] { return server.loopback().server().counters().connections_open == 0; }));
    EXPECT_EQ(server.count(TlsOutcome::malformed) + server.count(TlsOutcome::disconnected), 3u);
    // A health check that connects and leaves is no handshake.
    { const RawClient client(server.port()); }
    EXPECT_TRUE(server.loopback().await([&] {
        const HttpCounters& counters = server.loopback().server().counters();
        return counters.connections_accepted == 4 && counters.connections_open == 0;
    }));
    EXPECT_EQ(server.count(TlsOutcome::malformed) + server.count(TlsOutcome::disconnected), 3u);
}

TEST(HttpServerTls, ends_slow_handshakes) {
    HttpLimits limits;
    limits.sweep = milliseconds(5);
    limits.handshake_deadline = milliseconds(50);
    TlsServer server(echo, limits);
    RawClient silent(server.port());
    EXPECT_EQ(silent.rest(), "");
    TlsClient slow(server.port(), trusting());
    SSL_set_connect_state(slow.session());
    SSL_do_handshake(slow.session());
    const std::string hello = slow.take_output();
    slow.raw().send(hello.substr(0, hello.size() / 2));
    EXPECT_EQ(slow.raw().rest(), "");
    EXPECT_EQ(server.count(TlsOutcome::timeout), 2u);
    // One that is done may take its time for the request.
    limits.handshake_deadline = std::chrono::seconds(20);
    limits.header_deadline = milliseconds(50);
    TlsServer other(echo, limits);
    TlsClient client(other.port(), trusting());
    ASSERT_TRUE(client.shake_hands());
    EXPECT_TRUE(client.ends_in_order());
    EXPECT_EQ(other.loopback().counters().timeouts_header, 1u);
    EXPECT_EQ(other.count(TlsOutcome::timeout), 0u);
}

TEST(HttpServerTls, reports_the_verified_names_of_a_client) {
    std::vector<std::string> names;
    InstantMs expires_ms = 0;
    const auto handler = [&](const HttpRequest& request, HttpReply reply) {
        names = request.peer.certificate_names;
        expires_ms = request.peer.certificate_expires_ms;
        reply.answer({.body = "x"});
    };
    TlsServer server(handler, {}, authority().certificate());
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        TlsClient::Options options = of_version(version);
        TlsClient nameless(server.port(), options);
        ASSERT_TRUE(nameless.shake_hands());
        EXPECT_TRUE(nameless.send(get("/")));
        EXPECT_EQ(body_of(nameless.answer()), "x");
        server.loopback().on_loop([&] { EXPECT_TRUE(names.empty()); });

        options.own = authority().issue(
            {.names = "DNS:worker.example,IP:127.0.0.1,URI:spiffe://example/worker,email:ops@example.org"});
        const std::vector<std::string> expected{"dns:worker.example", "uri:spiffe://example/worker",
                                                "email:ops@example.org"};
        TlsClient named(server.port(), options);
        ASSERT_TRUE(named.shake_hands()) << named.error();
        for (int i = 0; i < 2; ++i) {
            EXPECT_TRUE(named.send(get("/")));
            EXPECT_EQ(body_of(named.answer()), "x");
            server.loopback().on_loop([&] { EXPECT_EQ(std::exchange(names, {}), expected); });
        }
        server.loopback().on_loop([&] { EXPECT_GT(expires_ms, wall_now_ms()); });
        // A session that is resumed would show no certificate: a certificate had its rights for as long as sessions
        // were resumed, also after it had expired.
        options.session = SSL_get1_session(named.session());
        {
            TlsClient again(server.port(), options);
            ASSERT_TRUE(again.shake_hands());
            EXPECT_EQ(SSL_session_reused(again.session()), 0);
            EXPECT_TRUE(again.send(get("/")));
            EXPECT_EQ(body_of(again.answer()), "x");
            server.loopback().on_loop([&] { EXPECT_EQ(names, expected); });
        }
        SSL_SESSION_free(options.session);
    }
}

TEST(HttpServerTls, refuses_client_certificates_of_others_and_those_that_expired) {
    const CertificateAuthority other("Test Authority");
    TlsServer server(echo, {}, authority().certificate());
    const auto expect_refused = [&](const CertificateAndKey& own, const std::string& reason, std::uint64_t count) {
        TlsClient::Options options = trusting();
        options.own = own;
        TlsClient client(server.port(), options);
        // With TLS 1.3 the client is done before the server looks at its certificate.
        if (client.shake_hands()) client.send(get("/"));
        EXPECT_EQ(client.answer(), "");
        EXPECT_EQ(server.count(TlsOutcome::client_certificate), count);
        EXPECT_EQ(server.last_reason(), reason);
    };
    expect_refused(other.issue(), "certificate signature failure", 1);
    expect_refused(authority().issue({.until_s = -60}), "certificate has expired", 2);
    EXPECT_EQ(server.loopback().counters().requests, 0u);
}

TEST(HttpServerTls, reports_that_a_client_does_not_trust_it) {
    TlsServer server;
    TlsClient::Options options;
    options.authority = CertificateAuthority("Another").certificate();
    TlsClient client(server.port(), options);
    EXPECT_FALSE(client.shake_hands());
    EXPECT_TRUE(server.await(TlsOutcome::rejected_by_client));
    EXPECT_EQ(server.last_reason(), "tlsv1 alert unknown ca");
}

TEST(HttpServerTls, ends_connections_in_order) {
    Desk desk;
    TlsServer server(desk.handler());
    const auto connect = [&] {
        auto client = std::make_unique<TlsClient>(server.port(), trusting());
        EXPECT_TRUE(client->shake_hands());
        return client;
    };
    const auto closing = connect();
    EXPECT_TRUE(closing->send(get("/1", "Connection: close\r\n")));
    ASSERT_TRUE(server.loopback().await([&] { return desk.pending.contains("/1"); }));
    server.loopback().on_loop([&] { desk.answer("/1"); });
    EXPECT_EQ(body_of(closing->answer()), "/1");
    EXPECT_TRUE(closing->ends_in_order());

    // A client that has nothing more to say still gets its answer.
    const auto ended = connect();
    EXPECT_TRUE(ended->send(get("/2")));
    ended->end();
    ASSERT_TRUE(server.loopback().await([&] { return desk.pending.contains("/2"); }));
    server.loopback().on_loop([&] { desk.answer("/2"); });
    EXPECT_EQ(body_of(ended->answer()), "/2");
    EXPECT_TRUE(ended->ends_in_order());

    const auto idle = connect();
    const auto busy = connect();
    EXPECT_TRUE(busy->send(get("/3")));
    ASSERT_TRUE(server.loopback().await([&] { return desk.pending.contains("/3"); }));
    EXPECT_TRUE(server.await(TlsOutcome::full, 4));
    bool drained = false;
    server.loopback().on_loop([&] { server.loopback().server().drain(kPatience, [&] { drained = true; }); });
    EXPECT_TRUE(idle->ends_in_order());
    server.loopback().on_loop([&] { desk.answer("/3"); });
    EXPECT_EQ(body_of(busy->answer()), "/3");
    EXPECT_TRUE(busy->ends_in_order());
    closing->raw().close();
    ended->raw().close();
    busy->raw().close();
    EXPECT_TRUE(server.loopback().await([&] { return drained; }));
}

// The end of TLS was noticed before requests that had come with it and waited for those in front of them. They were
// dropped. The same must not happen to those that wait for their turn.
TEST(HttpServerTls, answers_requests_that_wait_when_the_client_ends) {
    const auto send_and_end = [](int port, const std::string& requests) {
        auto client = std::make_unique<TlsClient>(port, trusting());
        EXPECT_TRUE(client->shake_hands());
        EXPECT_GT(SSL_write(client->session(), requests.data(), static_cast<int>(requests.size())), 0);
        client->end();  // sends both together
        return client;
    };
    Desk desk;
    TlsServer slow(desk.handler());
    const auto waiting = send_and_end(slow.port(), post("/1", "") + post("/2", ""));
    for (const std::string path : {"/1", "/2"}) {
        ASSERT_TRUE(slow.loopback().await([&] { return desk.pending.contains(path); }));
        slow.loopback().on_loop([&] { desk.answer(path); });
        EXPECT_EQ(body_of(waiting->answer()), path);
    }

    TlsServer fast(echo);
    std::string many;
    for (int i = 0; i < 300; ++i) many += get("/" + std::to_string(i));
    const auto flooding = send_and_end(fast.port(), many);
    for (int i = 0; i < 300; ++i) ASSERT_EQ(body_of(flooding->answer()), "GET /" + std::to_string(i) + "|");
}

TEST(HttpServerTls, ends_a_connection_with_a_damaged_record_and_notifies_the_owners_of_its_replies) {
    Desk desk;
    bool gone = false;
    TlsServer server([&](const HttpRequest& request, HttpReply reply) {
        reply.on_client_gone([&] { gone = true; });
        desk.handler()(request, std::move(reply));
    });
    TlsClient client(server.port(), trusting());
    ASSERT_TRUE(client.shake_hands());
    EXPECT_TRUE(client.send(get("/")));
    ASSERT_TRUE(server.loopback().await([&] { return desk.pending.contains("/"); }));
    SSL_write(client.session(), "x", 1);
    std::string record = client.take_output();
    record.back() ^= 1;
    client.raw().send(record);
    EXPECT_TRUE(server.loopback().await([&] { return gone; }));
    EXPECT_EQ(client.receive(), "");
    EXPECT_NE(client.error().find("bad record mac"), std::string::npos) << client.error();
    server.loopback().on_loop([&] { desk.answer("/"); });
    EXPECT_EQ(client.raw().rest(), "");
}

TEST(HttpServerTls, cuts_clients_that_do_not_read) {
    HttpLimits limits = hasty();
    limits.header_deadline = limits.idle_timeout = kPatience;
    TlsServer server([](const HttpRequest&, HttpReply reply) { reply.answer({.body = std::string(1u << 20, 'x')}); },
                     limits);
    TlsClient client(server.port(), trusting());
    ASSERT_TRUE(client.shake_hands());
    std::string requests;
    for (int i = 0; i < 100; ++i) requests += get("/");
    EXPECT_TRUE(client.send(requests));
    EXPECT_TRUE(server.loopback().await([&] { return server.loopback().server().counters().timeouts_write == 1; }));
    EXPECT_LT(server.loopback().counters().requests, 50u);
    EXPECT_EQ(server.loopback().counters().unsent_bytes, 0u);
}

TEST(HttpServerTls, shows_a_new_certificate_to_new_connections) {
    const CertificateAuthority other("Another");
    TlsServer server;
    TlsClient old(server.port(), trusting());
    ASSERT_TRUE(old.shake_hands());
    server.use(other.issue());
    TlsClient::Options options;
    options.authority = other.certificate();
    TlsClient fresh(server.port(), options);
    ASSERT_TRUE(fresh.shake_hands()) << fresh.error();
    for (TlsClient* each : {&old, &fresh}) {
        EXPECT_TRUE(each->send(get("/")));
        EXPECT_EQ(body_of(each->answer()), "GET /|");
    }
    // Its tickets went with the old one: an earlier session is not resumed, but a new one starts.
    options.session = SSL_get1_session(old.session());
    TlsClient again(server.port(), options);
    ASSERT_TRUE(again.shake_hands());
    EXPECT_EQ(SSL_session_reused(again.session()), 0);
    SSL_SESSION_free(options.session);
}

// A token that was sent encrypted must not go on in plain text, whatever the server says.
TEST(HttpServerTls, a_redirect_of_the_client_stays_encrypted) {
    const TemporaryDirectory directory;
    std::ofstream(directory.at("ca.pem")) << authority().certificate();
    std::string location;
    int plain_requests = 0;
    LoopbackServer plain([&](const HttpRequest&, HttpReply reply) {
        ++plain_requests;
        reply.answer({});
    });
    TlsServer owner;
    TlsServer node([&](const HttpRequest& request, HttpReply reply) {
        reply.answer({.status = 307, .headers = {{"Location", location + std::string(request.target)}}});
    });
    HttpClient client({.server = "https://127.0.0.1:" + std::to_string(node.port()),
                       .ca_file = directory.at("ca.pem"),
                       .token = "abc.def"});
    location = plain.url();
    const auto refused = client.request("POST", "/", {}, "body");
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, "bad_redirect"_code);
    EXPECT_NE(refused.error().message.find(plain.url() + ", which is not encrypted"), std::string::npos)
        << refused.error().message;
    EXPECT_EQ(plain_requests, 0);
    location = "https://127.0.0.1:" + std::to_string(owner.port());
    const auto answer = client.request("POST", "/", {}, "body");
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(owner.count(TlsOutcome::full), 1u);
}

}  // namespace
}  // namespace duewheel::http_server_tls_test

#include "http_api/access/caller.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"

namespace duewheel::caller_test {
namespace {

const CallerRules kLoopback{true,
                            {"127.0.0.1", "localhost", "[::1]"},
                            {{"", "dw.example", 0}, {"https", "tls.example", 0}, {"", "dw.example", 8443}}};

std::string code_of(std::string_view method, std::vector<HttpField> fields, const CallerRules& rules = kLoopback) {
    HttpRequest request;
    request.method = method;
    request.fields = std::move(fields);
    const Status checked = check_caller(request, rules);
    return checked ? "fine" : std::string(name_of(checked.error().code)) + " " + checked.error().field;
}

TEST(Caller, is_served_under_a_name_of_the_server) {
    for (const char* host : {"127.0.0.1:7420", "127.0.0.1", "localhost:7420", "LOCALHOST", "localhost:8000",
                             "[::1]:7420", "[::1]", "dw.example", "DW.example:443"}) {
        EXPECT_EQ(code_of("GET", {{"Host", host}}), "fine") << host;
        EXPECT_EQ(code_of("POST", {{"host", host}}), "fine") << host;
    }
    EXPECT_EQ(code_of("POST", {}), "fine") << "HTTP/1.0";
}

// A page whose name was given the address 127.0.0.1 is of the same origin for the browser: only the name tells.
TEST(Caller, is_refused_under_another_name_even_for_reading) {
    for (const char* host : {"evil.example", "evil.example:7420", "localhost.evil.example", "xlocalhost", "localhostx",
                             "localhost.", "127.0.0.1.evil.example", "[::1", "[::2]:7420", "", ":7420", "10.0.0.1",
                             // They passed, because only the text before a colon was compared.
                             "localhost:evil.example", "localhost:7420.evil.example", "localhost:", "localhost:0",
                             "localhost:65536", "localhost:7420:7420", "[::1]evil.example", "[::1]:x", "localhost/",
                             "x@localhost", "localhost,evil.example", "localhost evil"}) {
        EXPECT_EQ(code_of("GET", {{"Host", host}}), "foreign_host Host") << host;
        const std::string origin = "http://" + std::string(host);
        EXPECT_EQ(code_of("POST", {{"Host", host}, {"Origin", origin}}), "foreign_host Host");
    }
}

TEST(Caller, may_use_any_name_if_none_is_checked) {
    const CallerRules rules{false, {"0.0.0.0"}, {}};
    EXPECT_EQ(code_of("GET", {{"Host", "anything:1"}}, rules), "fine");
    EXPECT_EQ(code_of("POST", {{"Host", "anything:1"}, {"Origin", "http://anything:1"}}, rules), "fine");
    EXPECT_EQ(code_of("POST", {{"Host", "anything:1"}, {"Origin", "http://evil.example"}}, rules),
              "foreign_origin Origin");
}

TEST(Caller, only_pages_of_the_server_may_change_something) {
    const auto post = [](const char* origin) {
        return code_of("POST", {{"Host", "localhost:7420"}, {"Origin", origin}});
    };
    EXPECT_EQ(post("http://localhost:7420"), "fine");
    EXPECT_EQ(post("http://LocalHost:7420"), "fine");
    EXPECT_EQ(post("https://dw.example"), "fine") << "a trusted host, whatever Host says";
    EXPECT_EQ(post("http://dw.example:80"), "fine");
    EXPECT_EQ(post("https://dw.example:8443"), "fine") << "named with this port";
    EXPECT_EQ(post("https://tls.example"), "fine");
    EXPECT_EQ(code_of("POST", {{"Host", "localhost"}, {"Origin", "http://localhost:80"}}), "fine");
    EXPECT_EQ(code_of("POST", {{"Host", "localhost:443"}, {"Origin", "https://localhost"}}), "fine");
    for (const char* origin :
         {"http://evil.example", "http://localhost:3000", "http://localhost", "http://127.0.0.1:7420", "null", "",
          "localhost:7420", "file://", "chrome-extension://localhost:7420", "http://localhost:7420.evil.example",
          "http://localhost:7420/", "http://evil@dw.example", "http://dw.example.evil.example",
          // Neither scheme nor port were compared.
          "http://dw.example:3000", "https://dw.example:80", "http://tls.example", "https://tls.example:8443",
          "https://dw.example:443:evil.example", "https://dw.example:"}) {
        EXPECT_EQ(post(origin), "foreign_origin Origin") << origin;
    }
    for (const char* method : {"POST", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
        EXPECT_EQ(code_of(method, {{"Host", "localhost:7420"}, {"Origin", "http://evil.example"}}),
                  "foreign_origin Origin");
    }
}

TEST(Caller, with_several_origins_each_must_be_allowed) {
    EXPECT_EQ(code_of("POST", {{"Host", "localhost:1"}, {"Origin", "http://localhost:1"}, {"origin", "http://evil"}}),
              "foreign_origin Origin");
    EXPECT_EQ(code_of("POST", {{"Origin", "http://evil"}, {"Origin", "http://localhost:1"}, {"Host", "localhost:1"}}),
              "foreign_origin Origin");
}

// A page without TLS may have been written by any machine between browser and server.
TEST(Caller, a_page_without_tls_is_none_of_a_server_with_tls) {
    HttpRequest request;
    request.method = "POST";
    request.peer.is_tls = true;
    const auto is_fine = [&](const char* origin) {
        request.fields = {{"Host", "localhost:7420"}, {"Origin", origin}};
        return check_caller(request, kLoopback).ok();
    };
    EXPECT_TRUE(is_fine("https://localhost:7420"));
    EXPECT_FALSE(is_fine("http://localhost:7420"));
    EXPECT_TRUE(is_fine("https://dw.example"));
    EXPECT_FALSE(is_fine("http://dw.example"));
}

// Reads of foreign pages were answered: the browser hides the response, but what it costs and how long it takes is
// seen.
TEST(Caller, a_page_of_another_site_may_not_read_but_link_to_the_dashboard) {
    const auto get = [](std::string_view path, std::vector<HttpField> fields) {
        HttpRequest request;
        request.method = "GET";
        request.path = path;
        fields.push_back({"Host", "localhost:7420"});
        request.fields = std::move(fields);
        const Status checked = check_caller(request, kLoopback);
        return checked ? "fine" : std::string(name_of(checked.error().code)) + " " + checked.error().field;
    };
    const HttpField foreign{"Sec-Fetch-Site", "cross-site"};
    EXPECT_EQ(get("/v1/stats", {foreign}), "foreign_origin Sec-Fetch-Site");
    EXPECT_EQ(get("/v1/stats", {foreign, {"Sec-Fetch-Mode", "navigate"}}), "foreign_origin Sec-Fetch-Site");
    for (const char* page : {"/", "/docs", "/docs/errors"}) {
        EXPECT_EQ(get(page, {foreign, {"Sec-Fetch-Mode", "navigate"}}), "fine") << page;
        EXPECT_EQ(get(page, {foreign}), "foreign_origin Sec-Fetch-Site") << page;
    }
    EXPECT_EQ(get("/docsx", {foreign, {"Sec-Fetch-Mode", "navigate"}}), "foreign_origin Sec-Fetch-Site");
    EXPECT_EQ(get("/v1/stats", {foreign, {"Origin", "https://dw.example"}}), "fine") << "a site of the operator";
    EXPECT_EQ(get("/v1/stats", {foreign, {"Origin", "https://evil.example"}}), "foreign_origin Origin");
    EXPECT_EQ(get("/v1/stats", {{"Sec-Fetch-Site", "same-origin"}}), "fine");
    EXPECT_EQ(get("/metrics", {}), "fine") << "a program";
}

TEST(Caller, a_site_is_a_host_with_or_without_scheme_and_port) {
    const auto text = [](std::string_view written) {
        const std::optional<Site> site = parse_site(written);
        return site ? site->scheme + " " + site->host + " " + std::to_string(site->port) : "none";
    };
    EXPECT_EQ(text("dw.example"), " dw.example 0");
    EXPECT_EQ(text("dw.example:8443"), " dw.example 8443");
    EXPECT_EQ(text("https://dw.example"), "https dw.example 0");
    EXPECT_EQ(text("http://[::1]:7420"), "http [::1] 7420");
    for (const char* other : {"", "https://", "ftp://dw.example", "https://dw.example/", "dw.example/x", "a b",
                              "dw.example:0", "dw.example:99999", "https://u@dw.example", "*.example", "::1", "[]"}) {
        EXPECT_EQ(text(other), "none") << other;
    }
}

TEST(Caller, without_an_origin_sec_fetch_site_decides) {
    const auto post = [](const char* site) {
        return code_of("POST", {{"Host", "localhost:7420"}, {"Sec-Fetch-Site", site}});
    };
    EXPECT_EQ(post("same-origin"), "fine");
    EXPECT_EQ(post("none"), "fine");
    EXPECT_EQ(post("cross-site"), "foreign_origin Sec-Fetch-Site");
    EXPECT_EQ(post("same-site"), "foreign_origin Sec-Fetch-Site");
    EXPECT_EQ(code_of("POST",
                      {{"Host", "localhost:7420"}, {"Origin", "https://dw.example"}, {"Sec-Fetch-Site", "cross-site"}}),
              "fine");
}

}  // namespace
}  // namespace duewheel::caller_test

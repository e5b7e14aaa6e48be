#include "ingress/caller.h"

#include <gtest/gtest.h>

namespace duewheel::caller_test {
namespace {

const CallerRules kLoopback{true, {"127.0.0.1", "localhost", "[::1]", "dw.example"}, {"dw.example"}};

std::string code_of(std::string_view method, std::vector<HttpField> fields, const CallerRules& rules = kLoopback) {
    HttpRequest request;
    request.method = method;
    request.fields = std::move(fields);
    const Status checked = check_caller(request, rules);
    return checked ? "fine" : std::string(checked.error().code) + " " + checked.error().field;
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
                             "localhost.", "127.0.0.1.evil.example", "[::1", "[::2]:7420", "", ":7420", "10.0.0.1"}) {
        EXPECT_EQ(code_of("GET", {{"Host", host}}), "foreign_host Host") << host;
        EXPECT_EQ(code_of("POST", {{"Host", host}, {"Origin", "http://" + std::string(host)}}), "foreign_host Host");
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
    EXPECT_EQ(post("https://dw.example:8443"), "fine");
    for (const char* origin :
         {"http://evil.example", "http://localhost:3000", "http://localhost", "http://127.0.0.1:7420", "null", "",
          "localhost:7420", "file://", "chrome-extension://localhost:7420", "http://localhost:7420.evil.example",
          "http://localhost:7420/", "http://evil@dw.example", "http://dw.example.evil.example"}) {
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

TEST(Caller, any_page_may_read_because_the_browser_hides_the_response) {
    EXPECT_EQ(code_of("GET", {{"Host", "localhost:7420"}, {"Origin", "http://evil.example"}}), "fine");
    EXPECT_EQ(code_of("HEAD", {{"Host", "localhost:7420"}, {"Sec-Fetch-Site", "cross-site"}}), "fine");
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

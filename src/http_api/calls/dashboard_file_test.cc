// The files of the dashboard as a browser requests them. It looks at no file in particular, because they change with
// the pages; index.html and its assets exist in each build.
#include "http_api/calls/dashboard_file.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "http_api/access/access_fixture.h"
#include "http_api/calls/call_fixture.h"

namespace duewheel::dashboard_file_test {
namespace {

Call request(const std::string& path, const std::string& name = "", const std::string& value = "") {
    Call call{"GET", path};
    if (!name.empty()) call.fields.emplace_back(name, value);
    return call;
}

TEST(DashboardFile, every_file_is_served_as_it_is_in_the_build) {
    ApiServer server;
    ASSERT_GE(dashboard_files().size(), 2u);
    EXPECT_EQ(dashboard_files().front().path, "/") << "the page, and its assets after it";
    for (const DashboardFile& file : dashboard_files()) {
        const std::string answer = server.ask(request(std::string(file.path)));
        EXPECT_EQ(status_of(answer), 200) << file.path;
        EXPECT_TRUE(body_of(answer) == file.bytes) << file.path;
        EXPECT_EQ(field_of(answer, "Content-Encoding"), "") << file.path;
        const std::string compressed = server.ask(request(std::string(file.path), "Accept-Encoding", "br, gzip;q=0.5"));
        EXPECT_TRUE(body_of(compressed) == file.gzip) << file.path;
        EXPECT_EQ(file.gzip.substr(0, 2), "\x1f\x8b") << file.path;
        EXPECT_EQ(field_of(compressed, "Content-Encoding"), "gzip") << file.path;
        EXPECT_NE(field_of(compressed, "ETag"), field_of(answer, "ETag")) << "they are different bytes";
        EXPECT_EQ(field_of(answer, "Vary"), "Accept-Encoding");
    }
    EXPECT_NE(std::string(dashboard_files().front().bytes).find("<!doctype html>"), std::string::npos);
}

TEST(DashboardFile, gzip_is_sent_only_if_it_is_accepted) {
    ApiServer server;
    for (const char* accepted :
         {"gzip", "GZIP", "deflate, gzip", "gzip;q=1.0, identity;q=0.5", "*", "identity;q=0.1,*;q=1"}) {
        EXPECT_EQ(field_of(server.ask(request("/", "Accept-Encoding", accepted)), "Content-Encoding"), "gzip")
            << accepted;
    }
    for (const char* refused : {"", "identity", "br", "gzip;q=0", "gzip; q=0.000", "*, gzip;q=0", "*;q=0", "xgzip"}) {
        EXPECT_EQ(field_of(server.ask(request("/", "Accept-Encoding", refused)), "Content-Encoding"), "") << refused;
    }
}

TEST(DashboardFile, a_browser_keeps_assets_and_asks_again_for_the_page) {
    ApiServer server;
    for (const DashboardFile& file : dashboard_files()) {
        const std::string path(file.path);
        const std::string caching = field_of(server.ask(request(path)), "Cache-Control");
        EXPECT_EQ(caching, path == "/" ? "no-cache" : "public, max-age=31536000, immutable");
        const std::string etag = field_of(server.ask(request(path)), "ETag");
        for (const std::string& known : {etag, "W/" + etag, "\"other\", " + etag, std::string("*")}) {
            const std::string answer = server.ask(request(path, "If-None-Match", known));
            EXPECT_EQ(status_of(answer), 304) << known;
            EXPECT_EQ(body_of(answer), "");
            EXPECT_EQ(field_of(answer, "ETag"), etag);
            EXPECT_EQ(field_of(answer, "Cache-Control"), caching);
        }
        EXPECT_EQ(status_of(server.ask(request(path, "If-None-Match", "\"other\""))), 200);
        Call compressed = request(path, "If-None-Match", etag);
        compressed.fields.emplace_back("Accept-Encoding", "gzip");
        EXPECT_EQ(status_of(server.ask(compressed)), 200) << "it has the bytes of another coding";
    }
}

TEST(DashboardFile, the_page_may_load_only_its_own_files) {
    ApiServer server;
    const std::string answer = server.ask(request("/"));
    const std::string policy = field_of(answer, "Content-Security-Policy");
    EXPECT_TRUE(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';")) << policy;
    EXPECT_EQ(policy.find("unsafe"), std::string::npos);
    EXPECT_NE(policy.find("frame-ancestors 'none'"), std::string::npos);
    EXPECT_EQ(field_of(answer, "X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(field_of(answer, "Referrer-Policy"), "no-referrer");
    EXPECT_EQ(field_of(answer, "Content-Type"), "text/html; charset=utf-8");
    const std::string_view page = dashboard_files().front().bytes;
    EXPECT_EQ(page.find("<style"), std::string_view::npos) << "the policy forbids inline styles";
    EXPECT_EQ(page.find("<script>"), std::string_view::npos) << "the policy forbids inline scripts";
}

TEST(DashboardFile, head_has_the_length_and_no_body) {
    ApiServer server;
    const std::string answer = server.ask({"HEAD", "/"});
    EXPECT_EQ(field_of(answer, "Content-Length"), std::to_string(dashboard_files().front().bytes.size()));
    EXPECT_EQ(body_of(answer), "");
    EXPECT_EQ(status_of(server.ask({"GET", "/healthz"})), 200) << "no body is left in the connection";
}

TEST(DashboardFile, what_is_not_there_is_refused) {
    ApiServer server;
    EXPECT_EQ(member_of(server.ask({"GET", "/assets/none.js"}), "code"), "unknown_path");
    EXPECT_EQ(member_of(server.ask({"GET", "/assets/../index.html"}), "code"), "unknown_path");
    EXPECT_EQ(member_of(server.ask({"GET", "/index.html"}), "code"), "unknown_path");
    const std::string answer = server.ask({"POST", "/", "{}"});
    EXPECT_EQ(status_of(answer), 405);
    EXPECT_EQ(field_of(answer, "Allow"), "GET, HEAD");
}

TEST(DashboardFile, needs_no_token_and_can_be_turned_off) {
    ApiServer with_tokens(with_auth());
    EXPECT_EQ(status_of(with_tokens.ask({"GET", "/"})), 200);
    HttpApiOptions options;
    options.dashboard = false;
    ApiServer without(std::move(options));
    for (const DashboardFile& file : dashboard_files()) {
        const std::string answer = without.ask(request(std::string(file.path)));
        EXPECT_EQ(member_of(answer, "code"), "unknown_path");
        EXPECT_NE(member_of(answer, "detail").find("http.dashboard"), std::string::npos);
    }
}

}  // namespace
}  // namespace duewheel::dashboard_file_test

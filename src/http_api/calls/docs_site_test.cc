// The pages of the documentation, as a browser requests them.
#include "http_api/calls/docs_site.h"

#include <filesystem>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "http_api/access/access_fixture.h"
#include "http_api/calls/call_fixture.h"
#include "support/temporary_directory.h"

namespace duewheel::docs_site_test {
namespace {

class Docs : public ::testing::Test {
  protected:
    Docs() {
        std::filesystem::create_directories(root_.at("html/tutorial"));
        root_.write("secret.html", "secret");
        root_.write("html/index.html", "start");
        root_.write("html/errors.html", "all errors");
        root_.write("html/tutorial/library.html", "the library");
        root_.write("html/tutorial/look.css", "b {}");
        std::filesystem::create_symlink(root_.at("secret.html"), root_.at("html/link.html"));
        std::filesystem::create_directory_symlink(root_.path(), root_.at("html/up"));
    }
    static HttpResponse get(const DocsSite& site, const std::string& path) {
        const CallRequest request({"GET", path});
        return site.answer(request.request());
    }
    HttpResponse get(const std::string& path) { return get(DocsSite(root_.at("html")), path); }

    TemporaryDirectory root_;
};

TEST_F(Docs, are_found_by_their_paths) {
    EXPECT_EQ(get("/docs/").body, "start");
    EXPECT_EQ(get("/docs/errors").body, "all errors") << "of the type of a problem document";
    EXPECT_EQ(get("/docs/errors.html").body, "all errors");
    EXPECT_EQ(get("/docs/tutorial/library.html").body, "the library");
    EXPECT_EQ(get("/docs/tutorial/library").content_type, "text/html; charset=utf-8");
    EXPECT_EQ(get("/docs/tutorial/look.css").content_type, "text/css; charset=utf-8");
    const HttpResponse redirect = get("/docs");
    EXPECT_EQ(redirect.status, 308) << "links of a page are relative to its folder";
    EXPECT_EQ(redirect.headers.front().value, "/docs/");
}

TEST_F(Docs, lead_to_no_other_file) {
    for (const char* path : {"/docs/none", "/docs/../secret.html", "/docs/tutorial/../../secret.html",
                             "/docs//etc/passwd", "/docs/%2e%2e/secret.html", "/docs/link.html", "/docs/up/secret.html",
                             "/docs/tutorial", "/docs/tutorial/", "/docs/index.html/"}) {
        EXPECT_EQ(get(path).status, 404) << path;
    }
}

TEST_F(Docs, that_are_not_installed_are_the_error_codes) {
    const DocsSite none(root_.at("html/tutorial"));
    for (const char* path : {"/docs/", "/docs/errors"}) {
        EXPECT_NE(get(none, path).body.find("<h2 id=\"queue_full\">"), std::string::npos) << path;
    }
    const HttpResponse other = get(none, "/docs/kafka");
    EXPECT_EQ(other.status, 404);
    EXPECT_NE(other.body.find("duewheel-doc"), std::string::npos);
}

TEST_F(Docs, are_served_like_the_dashboard) {
    HttpApiOptions options = with_auth();
    options.docs = root_.at("html");
    ApiServer server(std::move(options));
    const std::string answer = server.ask({"GET", "/docs/errors"});
    EXPECT_EQ(body_of(answer), "all errors") << "without a token";
    EXPECT_EQ(field_of(answer, "Cache-Control"), "no-cache");
    EXPECT_TRUE(field_of(answer, "Content-Security-Policy").starts_with("default-src 'none'; script-src 'self';"));
    Call known{"GET", "/docs/errors"};
    known.fields.emplace_back("If-None-Match", field_of(answer, "ETag"));
    known.fields.emplace_back("Accept-Encoding", "gzip");
    EXPECT_EQ(status_of(server.ask(known)), 304);
    EXPECT_EQ(body_of(server.ask({"HEAD", "/docs/errors"})), "");
}

TEST_F(Docs, are_off_with_the_dashboard_but_for_the_error_codes) {
    HttpApiOptions options;
    options.docs = root_.at("html");
    options.dashboard = false;
    ApiServer server(std::move(options));
    EXPECT_EQ(status_of(server.ask({"GET", "/docs/tutorial"})), 404);
    EXPECT_EQ(field_of(server.ask({"POST", "/docs/errors", "{}"}), "Allow"), "GET, HEAD");
    EXPECT_NE(body_of(server.ask({"GET", "/docs/errors"})).find("<h2 id=\"queue_full\">"), std::string::npos);
}

}  // namespace
}  // namespace duewheel::docs_site_test

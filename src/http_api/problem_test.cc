// Problem documents, and the table of error codes, compared with the documentation and with the sources.
#include "http_api/problem.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "http_api/answers/error_page.h"
#include "http_api/http_api.h"
#include "support/generated_table.h"

namespace duewheel::problem_test {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file) << path;
    return {std::istreambuf_iterator<char>(file), {}};
}

// Everything that is compiled into the programs, and the public headers.
std::string all_sources() {
    std::string sources;
    for (const char* folder : {"src", "apps", "timers"}) {
        for (const fs::directory_entry& entry :
             fs::recursive_directory_iterator(DUEWHEEL_SOURCE_DIR "/" + std::string(folder))) {
            const std::string name = entry.path().filename();
            if (!entry.is_regular_file() || !(name.ends_with(".cc") || name.ends_with(".h"))) continue;
            if (!name.ends_with("_test.cc") && !name.ends_with("fixture.h")) sources += content_of(entry.path());
        }
    }
    return sources;
}

TEST(ErrorCodes, each_is_made_somewhere) {
    const std::string sources = all_sources();
    for (const ErrorCodeRow& row : kErrorCodes) {
        const std::string name(row.name);
        const bool is_made = sources.find("\"" + name + "\"_code") != std::string::npos ||
                             sources.find("ErrorCode::" + name) != std::string::npos;
        EXPECT_TRUE(is_made) << name << ": remove its row";
    }
}

TEST(ErrorCodes, each_has_a_name_a_row_and_if_clients_receive_it_a_status_and_a_title) {
    for (const ErrorCodeRow& row : kErrorCodes) {
        SCOPED_TRACE(row.name);
        const ErrorCode code = code_of(row);
        EXPECT_EQ(row_of(code), &row);
        EXPECT_EQ(name_of(code), row.name);
        EXPECT_EQ(find_error_code(row.name), &row);
        EXPECT_EQ(is_for_clients(code), row.status != 0);
        EXPECT_EQ(row.title.empty(), row.status == 0);
        EXPECT_TRUE(row.status == 0 || row.status >= 307);
    }
    EXPECT_EQ(name_of(ErrorCode::none), "");
    EXPECT_EQ(row_of(ErrorCode::none), nullptr);
    EXPECT_EQ(name_of(ErrorCode{65'535}), "");
    for (const char* unknown : {"", "made_up", "zzz"}) EXPECT_EQ(find_error_code(unknown), nullptr) << unknown;
}

// The library and the server know its codes by the same names.
TEST(ErrorCodes, those_of_the_timer_library_are_in_the_table) {
    for (const std::string_view name : kLibraryErrorNames) {
        if (name.empty()) continue;
        ASSERT_NE(find_error_code(name), nullptr) << name;
        EXPECT_EQ(library_name_of(code_of(*find_error_code(name))), name);
    }
    EXPECT_EQ("bad_cron"_code, ErrorCode::bad_cron);
}

TEST(ErrorPage, the_documentation_has_an_entry_for_each_code_for_clients) {
    std::string page = "\n";
    for (const auto& [code, text] : error_advice()) {
        const ErrorCodeRow& row = *find_error_code(code);
        page.append("\n## `").append(code).append("`\n\n**").append(std::to_string(row.status)).append(" ");
        page.append(row.title).append(".** ").append(text).append("\n\nRetry: ");
        page.append(retry_text(row.status)).append("\n");
    }
    expect_table_in_page(DUEWHEEL_SOURCE_DIR "/docs/errors.md",
                         "<!-- Made from src/http_api/answers/error_page.cc. -->", page);
}

TEST(ErrorPage, of_the_server_has_the_same_entries_as_html) {
    for (const auto& [code, text] : error_advice()) {
        EXPECT_NE(error_page().find("<h2 id=\"" + std::string(code) + "\">"), std::string::npos) << code;
    }
    EXPECT_NE(error_page().find("<h2 id=\"audit_unavailable\"><code>audit_unavailable</code></h2>\n"
                                "<p><b>503 Audit log unavailable.</b> Try again after <code>Retry-After</code>: the "
                                "audit log cannot be written."),
              std::string::npos);
    for (const char* markdown : {"`", "](", ".md"}) EXPECT_EQ(error_page().find(markdown), std::string::npos);
}

TEST(Problem, has_retry_after_only_for_temporary_problems) {
    for (const ErrorCodeRow& row : kErrorCodes) {
        if (row.status == 0) continue;
        const HttpResponse response = problem({code_of(row), "detail", "field"});
        EXPECT_EQ(response.status, row.status);
        const bool later = row.status == 429 || row.status == 503 || row.status == 507;
        const bool coded = row.name == "unsupported_content_coding";
        const std::string field = later               ? "Retry-After"
                                  : coded             ? "Accept-Encoding"
                                  : row.status == 401 ? "WWW-Authenticate"
                                                      : "";
        ASSERT_EQ(response.headers.size(), field.empty() ? 0u : 1u) << row.name;
        EXPECT_EQ(field.empty() ? field : response.headers[0].name, field);
    }
}

TEST(Problem, a_code_that_is_not_for_clients_is_an_internal_error) {
    const Error error{"damaged_log"_code, "said \"so\""};
    const HttpResponse response = problem(error);
    EXPECT_EQ(response.status, 500);
    EXPECT_EQ(response.body,
              R"({"type":"/docs/errors#internal","title":"Internal server error","status":500,"code":"internal",)"
              R"("detail":"said \"so\""})");
}

// A Host field with a byte that is no text, quoted in the refusal, made the whole document no JSON.
TEST(Problem, stays_json_whatever_bytes_it_quotes) {
    const Error error{"foreign_host"_code, "no \"lo\xec\"", "Ho\xff"};
    const HttpResponse response = problem(error);
    EXPECT_NE(response.body.find("\"detail\":\"no \\\"lo\xef\xbf\xbd\\\"\",\"field\":\"Ho\xef\xbf\xbd\"}"),
              std::string::npos)
        << response.body;
}

// The HTTP server words its own refusals through this.
TEST(Problem, of_the_http_server_looks_like_any_other) {
    const HttpResponse response = format_http_error(414, "target_too_long"_code, "The address is too long.");
    EXPECT_EQ(response.status, 414);
    EXPECT_EQ(response.content_type, "application/problem+json");
    EXPECT_EQ(
        response.body,
        R"({"type":"/docs/errors#target_too_long","title":"Target too long","status":414,"code":"target_too_long",)"
        R"("detail":"The address is too long."})");
}

}  // namespace
}  // namespace duewheel::problem_test

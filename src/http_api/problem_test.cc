// Problem documents, and the table of error codes, compared with the documentation and with the sources.
#include "http_api/problem.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "http_api/http_api.h"

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

TEST(Problem, every_code_for_clients_is_documented_with_its_status) {
    const std::string page = content_of(DUEWHEEL_SOURCE_DIR "/docs/http_api.md");
    for (const ErrorCodeRow& of : kErrorCodes) {
        if (of.status == 0) continue;
        const std::string row = "\n| `" + std::string(of.name) + "` | " + std::to_string(of.status) + " | ";
        EXPECT_NE(page.find(row), std::string::npos) << "docs/http_api.md lacks the row" << row;
    }
}

TEST(Problem, the_documentation_names_no_other_code) {
    std::string page = content_of(DUEWHEEL_SOURCE_DIR "/docs/http_api.md");
    const std::size_t table = page.find("\n| code | status |");
    ASSERT_NE(table, std::string::npos);
    page.resize(page.find("\n\n", table));
    for (std::size_t at = page.find("\n| `", table); at != std::string::npos; at = page.find("\n| `", at + 1)) {
        const std::string code = page.substr(at + 4, page.find('`', at + 4) - at - 4);
        const ErrorCodeRow* row = find_error_code(code);
        EXPECT_TRUE(row != nullptr && row->status != 0) << code;
    }
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
    EXPECT_EQ(response.body, R"({"type":"about:blank","title":"Internal server error","status":500,"code":"internal",)"
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
    EXPECT_EQ(response.body, R"({"type":"about:blank","title":"Target too long","status":414,"code":"target_too_long",)"
                             R"("detail":"The address is too long."})");
}

}  // namespace
}  // namespace duewheel::problem_test

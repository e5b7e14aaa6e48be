// The table of problem codes, compared with the documentation and with every place that creates an error for clients.
#include "http_api/problem.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "http_api/http_api.h"

namespace duewheel::problem_test {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file) << path;
    return {std::istreambuf_iterator<char>(file), {}};
}

// Codes that stop a start, end the process, refuse bytes on the disk, or are met by a client library or a user of the
// timer library: no request is answered with these.
const std::set<std::string, std::less<>> kInternalCodes = {"bad_address",
                                                           "bad_address_block",
                                                           "catching_up",
                                                           "exposed_token",
                                                           "unsafe_data_directory",
                                                           "bad_answer",
                                                           "bad_checksum",
                                                           "bad_footer",
                                                           "bad_beanstalk_address",
                                                           "bad_beanstalk_group",
                                                           "forbidden_group",
                                                           "beanstalk_elsewhere",
                                                           "bad_host",
                                                           "bad_kafka_setting",
                                                           "bad_redirect",
                                                           "bad_setting",
                                                           "bad_shard_setting",
                                                           "shards_changed",
                                                           "bad_size",
                                                           "bad_trusted_file",
                                                           "bad_header",
                                                           "damaged_index",
                                                           "damaged_log",
                                                           "damaged_record",
                                                           "io_error",
                                                           "log_failed",
                                                           "never_fires",
                                                           "newer_format",
                                                           "no_space",
                                                           "not_found",
                                                           "not_leasable",
                                                           "made_ready",
                                                           "port_in_use",
                                                           "refused",
                                                           "timers_full",
                                                           "timers_stopped",
                                                           "torn_record",
                                                           "unreachable",
                                                           "unsafe_beanstalk_listen",
                                                           "unsafe_listen",
                                                           "damaged_mark",
                                                           "not_a_backup",
                                                           "not_a_data_directory",
                                                           "not_empty",
                                                           "bad_traceparent",
                                                           "changed_export",
                                                           "incomplete_export",
                                                           "no_export",
                                                           "unknown_kind",
                                                           "damaged_header_value",
                                                           "unknown_encryption_key",
                                                           "damaged_audit_line",
                                                           "no_audit_log",
                                                           "bad_certificate_file",
                                                           "untrusted_server",
                                                           "bad_topic",
                                                           "topic_loop",
                                                           "position_moved",
                                                           "kafka_failed",
                                                           "copy_too_old",
                                                           "damaged_topic",
                                                           "log_fenced",
                                                           "log_forked",
                                                           "log_is_replicated",
                                                           "log_released",
                                                           "log_went_back",
                                                           "topic_not_empty",
                                                           "unsafe_topic",
                                                           "kafka_fenced",
                                                           "kafka_login",
                                                           "kafka_refused",
                                                           "kafka_unavailable",
                                                           "kafka_unknown_outcome",
                                                           "position_trimmed",
                                                           "record_refused",
                                                           "topic_exists",
                                                           "unknown_topic",
                                                           "bad_kafka_client_file",
                                                           "bad_tls_key",
                                                           "bad_tls_client_ca",
                                                           "bad_tls_certificate"};

// The code that stands at the beginning of `text`, such as `"bad_id",`; empty where none does.
std::string code_at(std::string_view text) {
    const std::size_t start = std::min(text.find_first_not_of(" \n"), text.size());
    text.remove_prefix(start);
    if (!text.starts_with('"')) return {};
    const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_", 1);
    if (end == std::string_view::npos || end == 1 || !text.substr(end).starts_with("\",")) return {};
    return std::string(text.substr(1, end - 1));
}

// Where an error is made: `Error{"bad_id", ...`, `return {"bad_id", ...`, `problem({"bad_id", ...`,
// `NameOwner{"bad_id", ...`, and of the HTTP server `refuse(400, "bad_request", ...`, `refuse({408, "request_timeout",
// ...`, `format_error(500, "internal", ...`.
std::set<std::string> codes_in(std::string_view source) {
    std::set<std::string> codes;
    const auto collect = [&](std::string_view opening, std::size_t skip) {
        for (std::size_t at = source.find(opening); at != std::string_view::npos; at = source.find(opening, at + 1)) {
            const std::string code = code_at(source.substr(std::min(at + opening.size() + skip, source.size())));
            if (!code.empty()) codes.insert(code);
        }
    };
    for (const char* opening : {"Error{", "return {", "return Error{", "problem({", "Error(", "NameOwner{"})
        collect(opening, 0);
    for (const char* opening : {"refuse(", "refuse({", "format_error("}) collect(opening, 4);
    return codes;
}

// Every code of every source, tests apart, with one file that makes it.
std::map<std::string, std::string> codes_of_the_sources() {
    std::map<std::string, std::string> codes;
    for (const char* tree : {DUEWHEEL_SOURCE_DIR "/src", DUEWHEEL_SOURCE_DIR "/timers"}) {
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(tree)) {
            const std::string name = entry.path().filename();
            if (!entry.is_regular_file() || !(name.ends_with(".cc") || name.ends_with(".h"))) continue;
            if (entry.path().string().starts_with(DUEWHEEL_SOURCE_DIR "/timers/include/")) continue;  // for users of the library alone
            if (name.ends_with("_test.cc") || name.ends_with("fixture.h")) continue;
            for (const std::string& code : codes_in(content_of(entry.path()))) codes.emplace(code, entry.path());
        }
    }
    return codes;
}

TEST(Problem, every_code_a_client_can_receive_is_listed) {
    const auto codes = codes_of_the_sources();
    EXPECT_GT(codes.size(), 60u) << "the sources are written another way now: this test sees no codes";
    for (const auto& [code, path] : codes) {
        const bool listed = find_problem_kind(code) != nullptr;
        const bool internal = kInternalCodes.contains(code);
        EXPECT_NE(listed, internal) << path << " makes the code " << code << ": list it in problem.cc, or above if no "
                                    << "request is ever answered with it";
    }
}

TEST(Problem, every_listed_code_is_made_somewhere) {
    const auto codes = codes_of_the_sources();
    for (const ProblemKind& kind : problem_kinds()) EXPECT_TRUE(codes.contains(std::string(kind.code))) << kind.code;
    for (const std::string& code : kInternalCodes) EXPECT_TRUE(codes.contains(code)) << code;
}

TEST(Problem, codes_are_seen_in_every_form_that_makes_them) {
    EXPECT_EQ(
        codes_in(
            R"(return Error{"one", "x"}; Error{)"
            "\n        "
            R"("two", y}; return {"three", z}; problem({"four", v}) refuse(400, "five", w); refuse({408, "six",)"
            R"( u}); f(500, "not"); NameOwner{"seven", t}; {"nor", "this"}; Error{"Nor this", x}; only({"nor", "that"}))"),
        (std::set<std::string>{"five", "four", "one", "seven", "six", "three", "two"}));
}

TEST(Problem, every_listed_code_is_documented_with_its_status) {
    const std::string page = content_of(DUEWHEEL_SOURCE_DIR "/docs/http_api.md");
    for (const ProblemKind& kind : problem_kinds()) {
        const std::string row = "\n| `" + std::string(kind.code) + "` | " + std::to_string(kind.status) + " | ";
        EXPECT_NE(page.find(row), std::string::npos) << "docs/http_api.md lacks the row" << row;
    }
}

TEST(Problem, the_documentation_names_no_other_code) {
    std::string page = content_of(DUEWHEEL_SOURCE_DIR "/docs/http_api.md");
    const std::size_t table = page.find("\n| code | status |");
    ASSERT_NE(table, std::string::npos);
    page.resize(page.find("\n\n", table));
    std::size_t rows = 0;
    for (std::size_t at = page.find("\n| `", table); at != std::string::npos; at = page.find("\n| `", at + 1)) {
        const std::string code = page.substr(at + 4, page.find('`', at + 4) - at - 4);
        EXPECT_NE(find_problem_kind(code), nullptr) << code;
        ++rows;
    }
    EXPECT_EQ(rows, problem_kinds().size());
}

TEST(Problem, codes_are_sorted_and_found_by_name) {
    std::string_view before;
    for (const ProblemKind& kind : problem_kinds()) {
        EXPECT_LT(before, kind.code);
        before = kind.code;
        EXPECT_EQ(find_problem_kind(kind.code), &kind);
        EXPECT_GE(kind.status, 307);
        EXPECT_FALSE(kind.title.empty());
    }
    EXPECT_EQ(find_problem_kind("made_up"), nullptr);
    EXPECT_EQ(find_problem_kind(""), nullptr);
    EXPECT_EQ(find_problem_kind("zzz"), nullptr);
}

TEST(Problem, has_retry_after_only_for_temporary_problems) {
    for (const ProblemKind& kind : problem_kinds()) {
        const HttpResponse response = problem({kind.code, "detail", "field"});
        EXPECT_EQ(response.status, kind.status);
        const bool later = kind.status == 429 || kind.status == 503 || kind.status == 507;
        const bool coded = kind.code == "unsupported_content_coding";
        const std::string field = later                ? "Retry-After"
                                  : coded              ? "Accept-Encoding"
                                  : kind.status == 401 ? "WWW-Authenticate"
                                                       : "";
        ASSERT_EQ(response.headers.size(), field.empty() ? 0u : 1u) << kind.code;
        EXPECT_EQ(field.empty() ? field : response.headers[0].name, field);
    }
}

TEST(Problem, an_unlisted_code_is_an_internal_error) {
    const HttpResponse response = problem({"made_up", "said \"so\""});
    EXPECT_EQ(response.status, 500);
    EXPECT_EQ(response.body, R"({"type":"about:blank","title":"Internal server error","status":500,"code":"internal",)"
                             R"("detail":"said \"so\""})");
}

// A Host field with a byte that is no text, quoted in the refusal, made the whole document no JSON.
TEST(Problem, stays_json_whatever_bytes_it_quotes) {
    const HttpResponse response = problem({"foreign_host", "no \"lo\xec\"", "Ho\xff"});
    EXPECT_NE(response.body.find("\"detail\":\"no \\\"lo\xef\xbf\xbd\\\"\",\"field\":\"Ho\xef\xbf\xbd\"}"),
              std::string::npos)
        << response.body;
}

// The HTTP server words its own refusals through this.
TEST(Problem, of_the_http_server_looks_like_any_other) {
    const HttpResponse response = format_http_error(414, "target_too_long", "The address is too long.");
    EXPECT_EQ(response.status, 414);
    EXPECT_EQ(response.content_type, "application/problem+json");
    EXPECT_EQ(response.body, R"({"type":"about:blank","title":"Target too long","status":414,"code":"target_too_long",)"
                             R"("detail":"The address is too long."})");
}

}  // namespace
}  // namespace duewheel::problem_test

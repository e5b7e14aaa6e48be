// The table of limits, and the table of docs/http_api.md that is generated from it. After a change, DUEWHEEL_RECORD=1
// build/release/bin/server_test writes the page again. tests/integration/limits_test.py tests each limit at its value
// and beyond with the real server.
#include "server/limits/limit.h"

#include <set>

#include <gtest/gtest.h>

#include "http_api/problem.h"
#include "support/generated_table.h"

namespace duewheel::limit_test {
namespace {

const std::string kPage = DUEWHEEL_SOURCE_DIR "/docs/http_api.md";
constexpr std::string_view kBegin = "<!-- Made from the tables src/server/*_limit_rows.cc. -->\n\n";

TEST(Limit, each_documents_the_effect_of_exceeding_it) {
    for (const Limit& limit : limits()) {
        SCOPED_TRACE(limit.name);
        bool refuses = false;
        for (const ErrorCode code : limit.codes) {
            if (code == ErrorCode::none) continue;
            refuses = true;
            EXPECT_TRUE(is_for_clients(code)) << code;
        }
        EXPECT_TRUE(refuses || !limit.otherwise.empty());
        EXPECT_TRUE(limit.sentence.ends_with('.'));
    }
}

TEST(Limit, each_has_a_name_and_a_place_of_its_own) {
    std::set<std::string_view> names;
    for (const Limit& limit : limits()) {
        EXPECT_TRUE(names.insert(limit.name).second) << limit.name;
        EXPECT_EQ(find_limit(limit.name), &limit);
        if (limit.is_fixed()) continue;
        ServerOptions options;
        const std::int64_t wanted = limit.read(options) == limit.max ? limit.min : limit.max;
        limit.write(options, wanted);
        for (const Limit& each : limits()) {
            EXPECT_EQ(each.read(options) == each.read(ServerOptions{}), &each != &limit)
                << limit.name << " " << each.name;
        }
        EXPECT_EQ(limit.read(options), wanted) << limit.name;
    }
    EXPECT_EQ(find_limit("limits"), nullptr);
}

TEST(Limit, values_are_shown_in_the_largest_exact_unit) {
    const Limit& bytes = *find_limit("limits.body_max");
    EXPECT_EQ(limit_in_words(bytes, 1 << 20), "1 MiB");
    EXPECT_EQ(limit_in_words(bytes, 1 << 30), "1 GiB");
    EXPECT_EQ(limit_in_words(bytes, 8 << 10), "8 KiB");
    EXPECT_EQ(limit_in_words(bytes, 1025), "1025 bytes");
    EXPECT_EQ(limit_in_words(bytes, 0), "0 bytes");
    EXPECT_EQ(limit_in_words(*find_limit("limits.lease_max"), 43'200'000), "12h");
    EXPECT_EQ(limit_in_words(*find_limit("limits.queues_max"), 999), "999");
    EXPECT_EQ(limit_in_words(*find_limit("limits.queues_max"), 1'000), "1,000");
    EXPECT_EQ(limit_in_words(*find_limit("limits.queues_max"), 1'000'000), "1,000,000");
}

TEST(Limit, the_documentation_holds_the_table) {
    expect_table_in_page(kPage, kBegin, limits_table());
}

}  // namespace
}  // namespace duewheel::limit_test

#include "access/dashboard_sessions.h"

#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace duewheel::dashboard_sessions_test {
namespace {

using Sessions = DashboardSessions;

std::string begin(Sessions& sessions, const std::string& token, std::int64_t now_ns) {
    return std::string(sessions.begin({token, {}}, now_ns).value().reveal());
}

TEST(DashboardSessions, each_has_an_id_of_its_own_that_is_not_the_token) {
    Sessions sessions;
    std::set<std::string> ids;
    for (int i = 0; i < 20; ++i) {
        const std::string id = begin(sessions, "a", 0);
        EXPECT_EQ(id.size(), 43u);
        EXPECT_TRUE(ids.insert(id).second);
        ASSERT_NE(sessions.use(session_key(id), 1), nullptr);
        EXPECT_EQ(sessions.use(session_key(id), 1)->token_id, "a");
    }
    EXPECT_EQ(sessions.use(session_key("dw_a_x"), 1), nullptr);
    EXPECT_EQ(sessions.use(session_key(""), 1), nullptr);
}

TEST(DashboardSessions, ends_by_itself_when_it_is_not_used) {
    Sessions sessions;
    const SessionKey used = session_key(begin(sessions, "a", 0));
    const SessionKey idle = session_key(begin(sessions, "a", 0));
    EXPECT_NE(sessions.use(used, Sessions::kIdleNs), nullptr);
    EXPECT_NE(sessions.use(used, 2 * Sessions::kIdleNs), nullptr);
    EXPECT_EQ(sessions.use(idle, Sessions::kIdleNs + 1), nullptr);
    EXPECT_EQ(sessions.use(idle, 0), nullptr) << "it does not come back";
}

TEST(DashboardSessions, ends_with_the_logout) {
    Sessions sessions;
    const SessionKey key = session_key(begin(sessions, "a", 0));
    sessions.end(key);
    EXPECT_EQ(sessions.use(key, 0), nullptr);
    sessions.end(key);
}

TEST(DashboardSessions, those_of_a_token_are_bounded_and_leave_others_alone) {
    Sessions sessions;
    const SessionKey other = session_key(begin(sessions, "other", 0));
    std::vector<SessionKey> keys;
    for (std::size_t i = 0; i < Sessions::kPerToken; ++i) {
        keys.push_back(session_key(begin(sessions, "a", static_cast<std::int64_t>(i))));
    }
    EXPECT_NE(sessions.use(keys[0], 1'000), nullptr);
    begin(sessions, "a", 2'000);
    EXPECT_EQ(sessions.size(), Sessions::kPerToken + 1);
    EXPECT_EQ(sessions.use(keys[1], 2'000), nullptr) << "unused for longest";
    EXPECT_NE(sessions.use(keys[0], 2'000), nullptr);
    EXPECT_NE(sessions.use(other, 2'000), nullptr);
    begin(sessions, "a", 2'001 + Sessions::kIdleNs);
    EXPECT_EQ(sessions.size(), 1u) << "those that ended take no memory";
}

}  // namespace
}  // namespace duewheel::dashboard_sessions_test

#include "access/dashboard_sessions.h"

#include <algorithm>

#include "access/access_token_text.h"

namespace duewheel {

SessionKey session_key(std::string_view id) {
    return hash_of_secret(Secret(std::string(id)));
}

Result<Secret> DashboardSessions::begin(DashboardSession session, std::int64_t now_ns) {
    Result<Secret> id = make_token_secret();
    if (!id) return id;
    std::erase_if(sessions_, [&](const auto& each) { return now_ns - each.second.used_ns > kIdleNs; });
    std::size_t of_token = 0;
    auto oldest = sessions_.end();
    for (auto each = sessions_.begin(); each != sessions_.end(); ++each) {
        if (each->second.session.token_id != session.token_id) continue;
        ++of_token;
        if (oldest == sessions_.end() || each->second.used_ns < oldest->second.used_ns) oldest = each;
    }
    if (of_token >= kPerToken) sessions_.erase(oldest);
    sessions_.emplace(session_key(id->reveal()), Entry{std::move(session), now_ns});
    return id;
}

std::string DashboardSessions::end(const SessionKey& key) {
    const auto ended = sessions_.extract(key);
    return ended.empty() ? std::string() : ended.mapped().session.token_id;
}

const DashboardSession* DashboardSessions::use(const SessionKey& key, std::int64_t now_ns) {
    const auto found = sessions_.find(key);
    if (found == sessions_.end()) return nullptr;
    if (now_ns - found->second.used_ns > kIdleNs) {
        sessions_.erase(found);
        return nullptr;
    }
    found->second.used_ns = now_ns;
    return &found->second.session;
}

}  // namespace duewheel

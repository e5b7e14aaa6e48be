#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "shared/random.h"
#include <duewheel/patterns/heartbeat_table.h>

namespace duewheel {
namespace {

using Peer = HeartbeatTable::Peer;

std::vector<std::uint64_t> silent_at(HeartbeatTable& table, Tick now, Silence answer = Silence::forget) {
    std::vector<std::uint64_t> silent;
    table.advance_to(now, [&](std::uint64_t cookie, Tick) {
        silent.push_back(cookie);
        return answer;
    });
    return silent;
}

using Silent = std::vector<std::uint64_t>;

TEST(HeartbeatTable, a_peer_is_dropped_after_its_missed_beats_and_not_before) {
    HeartbeatTable table;
    const Peer quiet = table.watch(1, 30, 0);
    const Peer busy = table.watch(2, 30, 0);
    for (Tick now = 10; now <= 50; now += 10) {
        EXPECT_EQ(silent_at(table, now), now == 30 ? Silent{1} : Silent{}) << now;
        EXPECT_TRUE(table.heard(busy, now));
    }
    EXPECT_FALSE(table.is_watched(quiet));
    EXPECT_EQ(silent_at(table, 79), Silent{});
    EXPECT_EQ(silent_at(table, 80), Silent{2});
    EXPECT_EQ(table.size(), 0U);
    EXPECT_EQ(table.next_check(), kNever);
}

// Two threads each take the time and then the table's lock: the later time may come first.
TEST(HeartbeatTable, an_earlier_heartbeat_changes_nothing) {
    HeartbeatTable table;
    const Peer peer = table.watch(1, 30, 10);
    EXPECT_TRUE(table.heard(peer, 20));
    EXPECT_TRUE(table.heard(peer, 15));
    EXPECT_EQ(table.last_heard(peer), 20U);
    EXPECT_EQ(silent_at(table, 49), Silent{});
    EXPECT_EQ(silent_at(table, 50), Silent{1});
}

TEST(HeartbeatTable, a_sender_sends_only_where_nothing_else_was_sent_for_a_while) {
    HeartbeatTable connections;
    const Peer idle = connections.watch(1, 10, 0);
    const Peer chatty = connections.watch(2, 10, 0);
    std::vector<Tick> beats;
    for (Tick now = 1; now <= 40; ++now) {
        if (now % 4 == 0) connections.heard(chatty, now);
        for (const std::uint64_t sent : silent_at(connections, now, Silence::watch_on)) {
            EXPECT_EQ(sent, 1U);
            beats.push_back(now);
        }
    }
    EXPECT_EQ(beats, (std::vector<Tick>{10, 20, 30, 40}));
    EXPECT_TRUE(connections.is_watched(idle));
}

TEST(HeartbeatTable, the_handle_of_a_forgotten_peer_is_refused_though_its_row_serves_another) {
    HeartbeatTable table;
    const Peer old = table.watch(1, 5, 0);
    EXPECT_TRUE(table.forget(old));
    const Peer fresh = table.watch(2, 5, 0);
    ASSERT_EQ(static_cast<std::uint32_t>(old.bits), static_cast<std::uint32_t>(fresh.bits)) << "or nothing is tested";
    EXPECT_FALSE(table.heard(old, 4));
    EXPECT_FALSE(table.forget(old));
    EXPECT_EQ(table.last_heard(old), std::nullopt);
    EXPECT_EQ(table.last_heard(fresh), 0U);
    EXPECT_EQ(silent_at(table, 5), Silent{2});
}

TEST(HeartbeatTable, an_invalid_peer_is_not_watched) {
    // A free row's generation is 0, and so is that of a default handle: it was taken for the free row's peer.
    HeartbeatTable table;
    EXPECT_FALSE(table.heard(Peer{}, 4));
    EXPECT_TRUE(table.forget(table.watch(1, 5, 0)));
    EXPECT_FALSE(table.is_watched(Peer{}));
    EXPECT_FALSE(table.heard(Peer{}, 4));
    EXPECT_FALSE(table.forget(Peer{}));
    EXPECT_EQ(table.last_heard(Peer{}), std::nullopt);
    EXPECT_EQ(table.size(), 0U);
}

TEST(HeartbeatTable, the_sink_may_forget_and_watch_and_throw) {
    HeartbeatTable table;
    std::vector<Peer> peers;
    for (std::uint64_t cookie = 0; cookie < 3; ++cookie) peers.push_back(table.watch(cookie, 5, 0));
    table.advance_to(5, [&](std::uint64_t cookie, Tick last_heard) {
        EXPECT_EQ(last_heard, 0U);
        if (cookie == 0) {
            EXPECT_TRUE(table.forget(peers[0]));
            for (std::uint64_t more = 10; more < 50; ++more) table.watch(more, 7, 5);
        }
        return Silence::watch_on;
    });
    EXPECT_EQ(table.size(), 42U);
    EXPECT_FALSE(table.is_watched(peers[0])) << "forgotten by the sink, whatever it answers";
    EXPECT_THROW(table.advance_to(10, [](std::uint64_t, Tick) -> Silence { throw std::runtime_error("sink"); }),
                 std::runtime_error);
    EXPECT_EQ(table.size(), 41U) << "whose report throws is forgotten";
    EXPECT_EQ(silent_at(table, 100).size(), 41U);
}

TEST(HeartbeatTable, a_heartbeat_does_not_touch_the_wheel) {
    HeartbeatTable table;
    const Peer peer = table.watch(1, 100, 0);
    for (Tick now = 1; now < 100; ++now) {
        EXPECT_TRUE(table.heard(peer, now));
        ASSERT_EQ(table.next_check(), 100U) << "the timer stays where it is";
    }
    EXPECT_EQ(silent_at(table, 100), Silent{});
    EXPECT_EQ(table.next_check(), 199U) << "and is filed again when it comes";
}

TEST(HeartbeatTable, heartbeats_of_a_million_sessions_cost_the_wheel_little) {
    constexpr std::size_t kSessions = 1'000'000;
    constexpr Tick kSilence = 30'000;
    HeartbeatTable table;
    std::vector<Peer> peers(kSessions);
    for (std::size_t i = 0; i < kSessions; ++i) peers[i] = table.watch(i, kSilence, i % 1000);
    const std::uint64_t before = table.touched();
    std::size_t beats = 0;
    std::size_t silent = 0;
    // Ten beats each within three silences.
    for (Tick now = 9000; now <= 90'000; now += 9000) {
        for (const Peer peer : peers) beats += table.heard(peer, now);
        silent += silent_at(table, now).size();
    }
    EXPECT_EQ(beats, 10 * kSessions);
    EXPECT_EQ(silent, 0U);
    // Each of about three checks files a timer once and moves it down a few levels.
    EXPECT_LT(table.touched() - before, 12 * kSessions);
    EXPECT_EQ(silent_at(table, 90'000 + kSilence).size(), kSessions);
}

TEST(HeartbeatTable, agrees_with_a_walk_over_all_peers) {
    Random random(7);
    HeartbeatTable table;
    struct Row {
        Peer peer;
        Tick silence;
        Tick last_heard;
    };
    std::map<std::uint64_t, Row> model;
    std::uint64_t last_cookie = 0;
    Tick now = 0;
    for (int step = 0; step < 20'000; ++step) {
        if (model.size() < 60 && random.below(3) == 0) {
            const Tick silence = 1 + random.below(400);
            const std::uint64_t cookie = ++last_cookie;
            model[cookie] = {table.watch(cookie, silence, now), silence, now};
        } else if (!model.empty()) {
            const auto picked = std::next(model.begin(), static_cast<std::ptrdiff_t>(random.below(model.size())));
            if (random.below(10) == 0) {
                EXPECT_TRUE(table.forget(picked->second.peer));
                model.erase(picked);
            } else {
                EXPECT_TRUE(table.heard(picked->second.peer, now));
                picked->second.last_heard = now;
            }
        }
        now += random.below(12);
        Silent expected;
        for (const auto& [cookie, row] : model) {
            if (row.last_heard + row.silence <= now) expected.push_back(cookie);
        }
        if (!expected.empty()) {
            EXPECT_LE(table.next_check(), now) << "step " << step;
        }
        Silent silent = silent_at(table, now);
        std::sort(silent.begin(), silent.end());
        ASSERT_EQ(silent, expected) << "step " << step;
        for (const std::uint64_t cookie : silent) model.erase(cookie);
        ASSERT_EQ(table.size(), model.size());
    }
}

}  // namespace
}  // namespace duewheel

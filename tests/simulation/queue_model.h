// The oracle's model of a queue: its settings according to responses, and commands that may have affected all of its
// messages.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/commands/command.h"
#include "simulation/message_model.h"

namespace duewheel {

using QueueKey = std::pair<std::string, std::string>;
struct Pause {
    DueMs from = 0;
    ReplyToken answer = 0;  // requests beyond it were submitted after the pause was answered
};
struct PurgeMark {
    MessageId through = 0;
    DueMs asked_ms = 0;  // it is executed before it is answered, and ends messages from then on
    DueMs answered_ms = 0;
    std::uint32_t run = 0;
};
struct DiscardMark {
    DueMs before = 0;  // who died before then is to go
    std::uint64_t answered_step = 0;
};
// A group of a queue.
struct GroupModel {
    GroupSettings settings;  // as last answered
    bool is_known = true;    // nothing unanswered may have changed them
    std::uint32_t open = 0;  // commands on it without an answer
    DueMs changed_ms = 0;
    std::uint64_t changed_step = 0;
    std::multiset<DueMs> delivered;  // since then, if it has a rate
};
// What one reply leased, by group.
struct ServedGroups {
    std::uint32_t run = 0;
    DueMs at_ms = 0;
    std::map<std::string, std::uint32_t> messages;
};
struct QueueModel {
    QueueSettings settings;  // as last answered
    bool is_known = true;    // nothing unanswered may have changed them
    std::uint64_t settings_step = 0;
    DueMs settings_ms = 0;
    std::multiset<DueMs> delivered;  // since then, if it has a rate
    std::map<std::string, GroupModel> groups;
    std::deque<ServedGroups> served;  // the newest
    std::map<ReplyToken, ConfigureQueueCommand> open;
    std::optional<Pause> paused;  // surely
    DueRange was_paused;          // surely, the last time before
    std::vector<PurgeMark> marks;
    std::vector<DiscardMark> discards;  // answered
    DueMs discarded_until = 0;          // who died before then may have been met by one
    bool was_purged = false;            // or may have been
    bool had_topic = false;             // or may have had: lost leases make no dead letters while it has
    DueMs purge_lost_ms = 0;            // the first purge whose answer was lost; 0: none was
    DueMs redriven_ms = 0;              // when the last redrive was asked for; 0: none was
    // What may have been in force at any time.
    std::vector<RetryChoice> rules{RetryChoice{}};
    std::vector<std::int64_t> lease_times{0};
};

}  // namespace duewheel

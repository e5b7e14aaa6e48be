// Watchdogs by name: set, feed, remove; and the messages of those that were not fed in time. The effects of feeds and
// firings are in watchdog_course.h.
//
// A feed that meets its firing in a batch, or a firing a feed, waits for the next one. A due watchdog can be fed while
// it waits for room: the message that was due by then is overdue, and is created when there is room.
//
// A feed is refused while the disk is full except for the reserve, like everything that makes the log longer; the
// messages of watchdogs wait for the disk too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error_codes.h"
#include "engine/core/engine_start.h"
#include "engine/rules/named_rules.h"
#include "message/watchdog_state.h"

namespace duewheel {

using Watchdog = NamedRule<WatchdogState>;

struct WatchdogKind {
    using Rule = Watchdog;
    using Extra = NothingElse;
    using Put = PutWatchdogCommand;
    using Patch = PatchWatchdogCommand;
    using Describe = DescribeWatchdogCommand;
    using List = ListWatchdogsCommand;
    using Answer = WatchdogAnswer;
    using ListAnswer = WatchdogListAnswer;

    static constexpr std::string_view kName = "watchdog";
    static constexpr std::string_view kHint = "check the name, or create it first, which also feeds it";
    static constexpr auto kMax = &EngineOptions::watchdogs_max;
    static constexpr auto kCount = &Namespace::watchdogs;
    static constexpr auto kQuota = &NamespaceSettings::watchdogs_max;
    static constexpr Subject kSubject = Subject::watchdog;
    static constexpr std::size_t kBytesMax = kWatchdogBytesMax;
    static constexpr std::uint64_t kCookie = kWatchdogCookie;
    static_assert(kRuleNumberBits <= 61);
    static Error unknown(std::string message) { return {"unknown_watchdog"_code, std::move(message), "watchdog"}; }
    static Error too_many(std::string message) { return {"watchdog_limit"_code, std::move(message), "watchdog"}; }
    // A burst of watchdogs that are due at one instant shares a lane with the timers of queues with bursts.
    static std::uint64_t company(std::size_t watchdogs) { return watchdogs; }
    static std::string encode(const WatchdogState& state) { return encode_watchdog(state); }
    static Result<WatchdogState> decode(std::string_view value) { return decode_watchdog(value); }
    static DueMs next_ms(const WatchdogState& state) { return state.due_ms; }
    static std::uint64_t messages(const WatchdogState& state) { return state.fired; }
    static std::vector<WatchdogAnswer>& list(WatchdogListAnswer& answer) { return answer.watchdogs; }
};

class Watchdogs final : public NamedRules<WatchdogKind> {
  public:
    Watchdogs(const Uses& uses, Queues& queues, std::vector<WatchdogStart> stored) : NamedRules(uses, queues) {
        for (WatchdogStart& start : stored) begin(start);
    }

    using NamedRules::decide;
    using NamedRules::finish;
    Verdict decide(PendingCommand& pending, const FeedWatchdogCommand& command);
    Verdict decide(PendingCommand& pending, const RemoveWatchdogCommand& command) {
        return remove(pending, command.name_space, command.name);
    }

    // At most three quarters of a batch, with what recurring messages and schedules have added to it.
    void add_to_batch();
    void finish(const FiringLookup& lookup, const FoundRecords& records, Generation generation);

    // Verifies every invariant; aborts with a message.
    void check() const;

  private:
    Verdict put(PendingCommand& pending, PutWatchdogCommand& command) override;
    Status check(const PutWatchdogCommand& command) const override;
    WatchdogAnswer describe(const Watchdog& watchdog) const override;
    void place(Watchdog& watchdog) override;
    void change(Watchdog& watchdog, const WatchdogState& next) override;
    void count(const Reply& reply) override;

    void fire_later(Watchdog& watchdog, ErrorCode why);
    void read_due();
    void add_firing(Watchdog& watchdog, const Due::Item& prepared);
};

}  // namespace duewheel

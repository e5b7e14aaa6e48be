// Schedules by name: set, pause, resume, fire manually, remove, preview; and their runs (schedule_plan.h).
//
// When it is set again, a schedule keeps its name, the numbers of its runs, its counts, and whether it is paused unless
// the command changes that. If its times are different, they start again at this instant: times of the old rule that
// had come and were not decided create no runs any more. If they are the same, they continue. Setting an identical
// schedule again changes nothing.
//
// A run is a message of its own, with its schedule, its nominal time and its number: no nominal time creates two runs,
// and none is forgotten. Runs that become too late because there is no room for them count as missed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error_codes.h"
#include "engine/core/earlier_runs.h"
#include "engine/core/engine_start.h"
#include "engine/rules/named_rules.h"
#include "engine/rules/schedule.h"
#include "engine/rules/schedule_plan.h"

namespace duewheel {

// The lookup result for the newest run of a schedule, if memory does not know it and an overlap policy needs it.
struct NewestRun {
    MessageId id = 0;
    std::optional<bool> is_unfinished;
    std::uint64_t generation = 0;
};

struct ScheduleKind {
    using Rule = Schedule;
    using Extra = NewestRun;
    using Put = PutScheduleCommand;
    using Patch = PatchScheduleCommand;
    using Describe = DescribeScheduleCommand;
    using List = ListSchedulesCommand;
    using Answer = ScheduleAnswer;
    using ListAnswer = ScheduleListAnswer;

    static constexpr std::string_view kName = "schedule";
    static constexpr std::string_view kHint = "check the name, or create it first";
    static constexpr auto kMax = &EngineOptions::schedules_max;
    static constexpr auto kCount = &Namespace::schedules;
    static constexpr auto kQuota = &NamespaceSettings::schedules_max;
    static constexpr Subject kSubject = Subject::schedule;
    static constexpr std::size_t kBytesMax = kScheduleBytesMax;
    static constexpr std::uint64_t kCookie = kScheduleCookie;
    static Error unknown(std::string message) { return {"unknown_schedule"_code, std::move(message), "schedule"}; }
    static Error too_many(std::string message) { return {"schedule_limit"_code, std::move(message), "schedule"}; }
    static std::uint64_t company(std::size_t) { return 0; }
    static std::string encode(const ScheduleState& state) { return encode_schedule(state); }
    static Result<ScheduleState> decode(std::string_view value) { return decode_schedule(value); }
    static DueMs next_ms(const ScheduleState& state) { return state.next_ms; }
    static std::uint64_t messages(const ScheduleState& state) { return state.made; }
    static std::vector<ScheduleAnswer>& list(ScheduleListAnswer& answer) { return answer.schedules; }
};

class Schedules final : public NamedRules<ScheduleKind> {
  public:
    // `zone_data`: the version of the zone data with which `stored` were read.
    Schedules(const Uses& uses, Queues& queues, std::vector<ScheduleStart> stored, std::string zone_data);

    using NamedRules::decide;
    using NamedRules::finish;
    using NamedRules::read;
    Verdict decide(PendingCommand& pending, ControlScheduleCommand& command);
    // The next times, and those times of the rule that its policies exclude.
    void read(const PreviewScheduleCommand& command, ReplyToken token, const SharedLimits& limits);
    std::vector<ScheduleCounters> by_name(std::size_t max) const;

    // The message has ended: a schedule may wait for that.
    void end_of(MessageId id);
    // At most half of a batch, as for recurring messages.
    void add_to_batch();
    void finish(const LastRunLookup& lookup, const std::optional<MessageRow>& row, Generation generation);
    void finish(const RunLookup& lookup, const FoundRecords& records, Generation generation);

    // Verifies every invariant; aborts with a message.
    void check() const;

  private:
    Verdict put(PendingCommand& pending, PutScheduleCommand& command) override;
    Status check(const PutScheduleCommand& command) const override;
    ScheduleAnswer describe(const Schedule& schedule) const override;
    void place(Schedule& schedule) override;
    void change(Schedule& schedule, const ScheduleState& next) override;
    void forget(Schedule& schedule) override;
    void complete(const Schedule& schedule, ScheduleState& next) const override;

    void keep_to_zone_data(Schedule& schedule) const;
    Result<ScheduleState> state_after(const PutScheduleCommand& command, const Schedule* schedule) const;
    Verdict fire(PendingCommand& pending, ControlScheduleCommand& command, Schedule& schedule);
    PreviewAnswer preview_of(const Schedule& schedule, const PreviewScheduleCommand& command) const;
    static std::uint64_t number_at(const Schedule& schedule, DueMs from_ms);

    std::optional<bool> is_unfinished(MessageId id) const;
    void wait_for_last(const Schedule& schedule) { waiting_for_[schedule.state.last_id] = schedule.number; }
    void read_due();
    void make_runs(Schedule& schedule, const Due::Item& run, std::size_t share, std::size_t& steps_left);
    MessageId add_run(const Schedule& schedule, const RuleRecord& whole, const PlannedRun& run, DueMs due);

    const std::string zone_data_;
    // By the run that must end before a schedule creates the next.
    std::unordered_map<MessageId, RuleNumber> waiting_for_;
};

}  // namespace duewheel

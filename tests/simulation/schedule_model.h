// The oracle's model of a schedule: the puts that clients sent, the states that they received, and the runs that were
// delivered to them. Nominal times are computed here from the documented rules, without code of the engine;
// expressions, intervals, zones and lists of days are interpreted by the project's calendar, which has oracles of its
// own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/commands/command.h"
#include "message/schedule_times.h"

namespace duewheel {

// Zone data have a version that the run knows, so that no event depends on the machine's: in one the clocks of a zone
// are as they are, in the next ones they are those of a neighbour in the west, and in the east. Each is loaded once.
Result<Zone> simulated_zone(std::uint32_t version, std::string_view name);
std::string simulated_zone_data(std::uint32_t version);

// The nominal times of a rule.
class TimesModel {
  public:
    // Nothing where the rule is none.
    static std::optional<TimesModel> make(const TimesRule& rule, std::uint32_t zone_version);

    // The first that is later than `after_ms`, where the rule counts from `from_ms`; without a limit on their number.
    std::optional<DueMs> next(DueMs after_ms, DueMs from_ms) const;
    // With other zone data: what clocks show there at the time that was decided last has passed, whatever they show
    // now.
    std::optional<DueMs> next_after_change(DueMs decided_ms, std::int64_t ahead_ms, DueMs from_ms) const;
    // What local clocks are ahead of UTC.
    std::int64_t ahead_ms(DueMs at_ms) const;
    // Whether clocks do something to its local time.
    bool is_shifted(DueMs at_ms) const;
    bool is_second_pass(DueMs at_ms) const;
    // What a preview says that clocks do to it.
    ClockNote note(DueMs at_ms) const;
    // Whether a time of the rule without its policies may be none of the rule's for this reason.
    bool may_be_left_out(DueMs at_ms, std::string_view why) const;

  private:
    TimesModel(TimesRule rule, Zone zone, ExclusionCalendar closed)
        : rule_(std::move(rule)), zone_(std::move(zone)), closed_(std::move(closed)) {}

    std::optional<DueMs> following(DueMs after_ms, DueMs from_ms) const;
    bool is_closed(DueMs at_ms) const;

    TimesRule rule_;
    Zone zone_;
    ExclusionCalendar closed_;
    std::optional<CronSchedule> cron_;
    std::optional<RepeatingInterval> interval_;
};

// The rule as if no day were closed and no clock's change left a time out.
TimesRule without_policies(TimesRule rule);

// The nominal times of one rule from one instant on, by their numbers.
class RuleStretch {
  public:
    RuleStretch(TimesModel times, TimesRule rule, DueMs from_ms, std::uint64_t first_run, std::uint32_t zone_version)
        : rule_(std::move(rule)),
          from_ms_(from_ms),
          first_run_(first_run),
          zone_version_(zone_version),
          times_(std::move(times)) {}
    // The same with other zone data: its first time is told.
    RuleStretch(const RuleStretch& before, TimesModel times, std::uint64_t first_run, DueMs first,
                std::uint32_t zone_version)
        : RuleStretch(std::move(times), before.rule_, before.from_ms_, first_run, zone_version) {
        known_.push_back(first);
    }

    const TimesRule& rule() const { return rule_; }
    DueMs from_ms() const { return from_ms_; }
    // The number of its first time. Numbers below are of the stretch before.
    std::uint64_t first_run() const { return first_run_; }
    // Nothing where there are not so many. O(numbers not asked for before).
    std::optional<DueMs> time(std::uint64_t number) const;
    // The number after that of the last time that is not later than `then`; at most kCountMost are counted.
    std::uint64_t number_after(DueMs then) const;
    const TimesModel& times() const { return times_; }
    std::uint32_t zone_version() const { return zone_version_; }

    static constexpr std::uint64_t kCountMost = 200'000;
    // The place of a time among those after `from_ms`, from 1 on; 0: it is none.
    static std::uint64_t place_of(const TimesModel& times, DueMs at_ms, DueMs from_ms);

  private:
    bool has(std::uint64_t place) const;

    TimesRule rule_;
    DueMs from_ms_;
    std::uint64_t first_run_;
    std::uint32_t zone_version_;
    TimesModel times_;
    mutable std::vector<DueMs> known_;
    mutable bool is_whole_ = false;
};

// A schedule as a client sets it. Its serial is the hash of its content, and stands in the body of its runs.
struct SchedulePut {
    // It was sent then, and executed by the end, if it was.
    struct Try {
        DueMs from_ms = 0;
        DueMs until_ms = INT64_MAX;
        bool was_refused = false;
        bool was_lost = false;  // its answer

        bool may_be_at(DueMs at) const { return !was_refused && from_ms <= at && at <= until_ms; }
    };

    std::uint64_t serial = 0;
    PutScheduleCommand command;
    std::vector<TimesModel> times;  // by the version of zone data, from the first to the newest; empty: it is no rule
    std::vector<Try> tries;
    std::map<ReplyToken, std::size_t> open;
    std::uint64_t leases_lost_before = 0;  // of its queue, when it was sent
    bool was_told = false;                 // somebody was told that the schedule is so
    bool was_changed_to = false;           // of a schedule that was there

    bool may_be_at(DueMs at) const;
    bool may_have_been_lost() const;
    bool was_never_taken() const;
    bool has_time(DueMs at) const;
};

// What somebody was told of a schedule.
struct ScheduleTold {
    ScheduleState state;
    std::uint32_t run = 0;  // of the process
    // How many commands had been sent by then that may let it go on; the greatest number where some had no answer.
    std::uint64_t commands = UINT64_MAX;
};

// From a put that made it to its end.
struct ScheduleLife {
    DueMs created_ms = 0;
    std::map<std::uint32_t, ScheduleTold> told;  // by revision
    std::vector<RuleStretch> stretches;          // by their first numbers
    std::map<std::uint64_t, std::uint64_t> met;  // serials of its runs, by number
    std::uint64_t met_most = 0;                  // the greatest of them
    std::uint64_t met_step = 0;                  // when that was met
    std::uint64_t removed_step = 0;              // when its end was told; 0: it goes on
    DueMs removed_ms = 0;                        // and by which time it had come
    bool was_lost = false;                       // its end came without an answer

    const ScheduleState* newest() const { return told.empty() ? nullptr : &told.rbegin()->second.state; }
    const RuleStretch* stretch_of(std::uint64_t number) const;
};

struct ScheduleModel {
    enum class There : std::uint8_t { no, maybe, yes };

    std::string name_space;
    std::string name;
    There there = There::no;
    std::set<ReplyToken> open;  // commands that change it
    std::uint32_t removes_open = 0;
    bool remove_lost = false;  // since it was last looked at, an end or a put had no answer
    bool put_lost = false;
    bool change_lost = false;  // likewise any command that changes it
    bool is_blurred = false;   // two lives cannot be told from one another: it is not judged any more
    std::vector<ScheduleLife> lives;
    std::vector<std::uint64_t> puts;             // serials
    std::uint64_t commands = 0;                  // puts, resumes and removals that were sent
    std::uint64_t fires = 0;                     // runs by hand that were asked for
    std::uint64_t fires_refused = 0;             // surely not made
    std::vector<std::pair<DueMs, DueMs>> asked;  // of those without an answer: between when
    std::map<MessageId, DueMs> fired;            // those that were answered
    std::set<MessageId> fired_met;               // runs by hand that somebody got
    std::vector<std::uint64_t> unexplained;      // runs whose number nothing that was told explains yet

    ScheduleLife* life() { return lives.empty() ? nullptr : &lives.back(); }
    const ScheduleLife* life() const { return lives.empty() ? nullptr : &lives.back(); }
    // As it was told last, where it is surely there still.
    const ScheduleState* surely() const {
        return there == There::yes && open.empty() && !lives.empty() && !is_blurred ? lives.back().newest() : nullptr;
    }
};

}  // namespace duewheel

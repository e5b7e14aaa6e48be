// Reported states of a schedule: each nominal time is decided once, in order, and is in one of the counts; what was
// reported under a revision is final, also for a later process; and nothing goes back.
//
// The next time follows from each state by the rule alone (RuleStretch). Between two reported states, the counts of
// skipped times are compared with what the policies of the rule allow.
#include <algorithm>

#include "simulation/oracle.h"

namespace duewheel {
namespace {

// Beyond so many decided times nobody counts which of them a policy may have skipped.
constexpr std::uint64_t kTimesExplainedMost = 20'000;

}  // namespace

void Oracle::schedule_violates(const ScheduleModel& model, std::string_view clause, const std::string& what) {
    violate(clause, "schedule " + model.name_space + "/" + model.name + ": " + what);
}

void Oracle::schedule_told(ScheduleModel& model, const ScheduleState& state, const Request& request, bool was_created) {
    if (model.is_blurred) return;
    const std::uint64_t serial = state.rule.content_hash;
    if (std::find(model.puts.begin(), model.puts.end(), serial) == model.puts.end()) {
        return schedule_violates(model, "C1", "it is told of with a rule that nobody put");
    }
    SchedulePut& put = schedule_puts_[serial - 1];
    if (!(state.rule == put.command.rule) || state.revision == 0) {
        return schedule_violates(model, "C1", "it is told of with another rule than was put");
    }
    if (put.may_have_been_lost() && !put.was_told) rare_.met(Rare::lost_schedule_put_found_there);
    put.was_told = true;
    ScheduleLife* life = life_told(model, state, request, was_created);
    if (life == nullptr) return;
    model.put_lost = model.remove_lost = model.change_lost = false;
    const auto known = life->told.find(state.revision);
    if (known != life->told.end()) {
        ScheduleState same = known->second.state;
        if (same.zone_data != state.zone_data) {  // since then the process has others
            same.zone_data = state.zone_data;
            same.next_ms = state.next_ms;
        }
        if (!(same == state)) {
            return schedule_violates(model, "C6",
                                     "revision " + std::to_string(state.revision) + " is told as something else" +
                                         (known->second.run != run_ ? " since the restart" : ""));
        }
        if (known->second.run != run_) rare_.met(Rare::schedule_told_after_a_restart);
        known->second = {state, run_, known->second.commands};
        return check_stretch(model, *life, put, state);
    }
    const bool was_there = request.lives == model.lives.size() && &model.lives.back() == life;
    if (was_there && state.revision < request.least_revision) {
        return schedule_violates(
            model, "C1",
            "revision " + std::to_string(state.revision) + " is told after " + std::to_string(request.least_revision));
    }
    if (was_there && request.step > life->met_step && life->met_most >= state.next_run) {
        return schedule_violates(model, "C6", "run " + std::to_string(life->met_most) + " was there, and is to come");
    }
    const std::uint64_t decided = state.made + state.skipped + state.merged + (state.waiting_ms != 0 ? 1 : 0);
    if (state.next_run != decided + 1) {
        return schedule_violates(model, "C6",
                                 std::to_string(state.next_run - 1) + " times have come, but " +
                                     std::to_string(state.made) + " made a run, " + std::to_string(state.skipped) +
                                     " were skipped, " + std::to_string(state.merged) + " merged" +
                                     (state.waiting_ms != 0 ? " and one waits" : ""));
    }
    check_stretch(model, *life, put, state);
    if (violated() || model.is_blurred) return;
    ScheduleTold fresh{state, run_, UINT64_MAX};
    if (model.open.empty() && !request.is_overlapped) fresh.commands = model.commands;
    const auto told = life->told.emplace(state.revision, std::move(fresh)).first;
    if (told != life->told.begin()) check_goes_on(model, std::prev(told)->second, told->second);
    if (std::next(told) != life->told.end()) {
        check_goes_on(model, told->second, std::next(told)->second);
    } else if (!violated() && told != life->told.begin()) {
        check_passed(model, *life, std::prev(told)->second.state, state);
    }
    if (state.has_ended()) rare_.met(Rare::schedule_ended);
    if (!violated()) explain_runs(model);
}

// One that was removed may have been made again within the millisecond in which it was made, and be told of by an
// answer that was asked for before.
bool Oracle::may_be_two_lives(const ScheduleModel& model, const ScheduleLife& life, const ScheduleState& state) const {
    const auto known = life.told.find(state.revision);
    if (known == life.told.end() || known->second.state == state) return false;
    if (life.removed_step == 0 && model.removes_open == 0 && !model.remove_lost) return false;
    std::ptrdiff_t tries = 0;
    for (const std::uint64_t serial : model.puts) {
        const std::vector<SchedulePut::Try>& all = schedule_puts_[serial - 1].tries;
        tries +=
            std::count_if(all.begin(), all.end(), [&](const auto& one) { return one.may_be_at(state.created_ms); });
    }
    return tries > 1;
}

// From which put to which end it is; null where that cannot be told, or it must not be.
ScheduleLife* Oracle::life_told(ScheduleModel& model, const ScheduleState& state, const Request& request,
                                bool was_created) {
    ScheduleLife* last = model.life();
    for (auto life = model.lives.rbegin(); life != model.lives.rend() && !was_created; ++life) {
        if (life->created_ms != state.created_ms) continue;
        if (may_be_two_lives(model, *life, state)) {
            model.is_blurred = true;
            return nullptr;
        }
        // Ended, and told of by an answer that comes late; or there is another one now.
        if (life->removed_step != 0 && request.step <= life->removed_step) return &*life;
        const bool may_be_another = model.remove_lost && model.put_lost;
        if (life->removed_step == 0 && !may_be_another) return &*life;
        const auto known = life->told.find(state.revision);
        if (life->removed_step == 0 && known != life->told.end() && known->second.state == state) return &*life;
        model.is_blurred = true;
        return nullptr;
    }
    if (last != nullptr && last->removed_step == 0) {
        if (!model.remove_lost && !request.is_overlapped) {
            schedule_violates(model, "C1", "it is another one than it was, though nobody removed that");
            return nullptr;
        }
        last->removed_step = request.step;
        last->removed_ms = latest();
        last->was_lost = true;
    }
    const bool was_put = std::any_of(model.puts.begin(), model.puts.end(), [&](std::uint64_t serial) {
        return schedule_puts_[serial - 1].may_be_at(state.created_ms);
    });
    if (!was_put) {
        schedule_violates(model, "C1", "it is there since " + at(state.created_ms) + ", when nobody put it");
        return nullptr;
    }
    for (const ScheduleLife& other : model.lives) model.is_blurred |= other.created_ms == state.created_ms;
    if (model.is_blurred) return nullptr;
    model.lives.emplace_back().created_ms = state.created_ms;
    return &model.lives.back();
}

// What is next follows from the rule, from when it holds, and from how many times have come.
void Oracle::check_stretch(ScheduleModel& model, ScheduleLife& life, const SchedulePut& put,
                           const ScheduleState& state) {
    std::uint32_t version = zone_version_;
    while (version > 0 && simulated_zone_data(version) != state.zone_data) --version;
    if (simulated_zone_data(version) != state.zone_data || (state.next_ms != 0 && version != zone_version_)) {
        return schedule_violates(model, "C6", "its next time is reckoned with zone data `" + state.zone_data + "`");
    }
    const auto is_it = [&](const RuleStretch& stretch) {
        return stretch.from_ms() == state.from_ms && stretch.rule() == state.rule.times &&
               stretch.zone_version() == version;
    };
    auto found = std::find_if(life.stretches.begin(), life.stretches.end(), is_it);
    if (put.times.empty()) return schedule_violates(model, "C6", "a rule was taken that is none");
    const TimesModel& times = put.times[version];
    if (found == life.stretches.end() && zone_version_ > 0 && state.last_ms > state.from_ms) {
        model.is_blurred = true;  // which of its times were decided with which data nobody knows
        return;
    }
    if (found == life.stretches.end()) {
        const bool was_put = std::any_of(model.puts.begin(), model.puts.end(), [&](std::uint64_t serial) {
            const SchedulePut& other = schedule_puts_[serial - 1];
            return other.command.rule.times == state.rule.times && other.may_be_at(state.from_ms);
        });
        if (!was_put) {
            return schedule_violates(model, "C6",
                                     "its times count from " + at(state.from_ms) + ", when nobody put such ones");
        }
        std::uint64_t first = state.next_run;
        if (state.last_ms > state.from_ms) {
            const std::uint64_t place = RuleStretch::place_of(times, state.last_ms, state.from_ms);
            if (place == 0 || place >= state.next_run) {
                return schedule_violates(model, "C6", "it has decided " + at(state.last_ms) + ", which is no time");
            }
            first = state.next_run - place;
        }
        RuleStretch fresh(times, state.rule.times, state.from_ms, first, version);
        found = std::find_if(life.stretches.begin(), life.stretches.end(), [&](const RuleStretch& other) {
            return std::pair(other.first_run(), other.from_ms()) > std::pair(first, state.from_ms);
        });
        found = life.stretches.insert(found, std::move(fresh));
    }
    // The newest of the rules that replaced each other within a millisecond is the last.
    const bool is_newest = life.told.empty() || life.told.rbegin()->first < state.revision;
    for (auto behind = std::next(found); is_newest && behind != life.stretches.end(); found = behind++) {
        if (behind->first_run() != found->first_run() || behind->from_ms() != found->from_ms()) break;
        std::iter_swap(found, behind);
    }
    const DueMs next = found->time(state.next_run).value_or(0);
    if (state.next_ms != next || state.next_run < found->first_run()) {
        return schedule_violates(model, "C6",
                                 "time " + std::to_string(state.next_run) + " is told to be at " + at(state.next_ms) +
                                     ", and it is at " + at(next));
    }
    if (state.next_run > found->first_run() && found->time(state.next_run - 1) != state.last_ms) {
        return schedule_violates(model, "C6",
                                 "time " + std::to_string(state.next_run - 1) + " was decided as " + at(state.last_ms));
    }
    if (state.last_ms > latest()) schedule_violates(model, "C2", "a time is decided before it has come");
}

// Times that were decided stay so. Of the others the first comes whose local time is later, by the clocks of then.
void Oracle::zones_changed(std::uint32_t version, const std::vector<ScheduleCounters>& counters) {
    zone_version_ = version;
    rare_.met(Rare::zone_data_changed);
    for (SchedulePut& put : schedule_puts_) {
        if (put.times.empty()) continue;
        put.times.push_back(*TimesModel::make(put.command.rule.times, version));
    }
    for (const ScheduleCounters& each : counters) {
        const auto found = schedules_.find({each.name_space, each.name});
        if (found == schedules_.end()) return violate("C1", "a start finds a schedule that nobody put");
        if (!violated()) zone_changed(found->second, each);
    }
}

void Oracle::zone_changed(ScheduleModel& model, const ScheduleCounters& counters) {
    ScheduleLife* life = model.life();
    const bool is_certain = model.there == ScheduleModel::There::yes && !model.put_lost && !model.remove_lost &&
                            life != nullptr && life->newest() != nullptr;
    if (!is_certain) model.is_blurred = true;
    if (model.is_blurred || counters.next_ms == 0) return;
    const RuleStretch& old = life->stretches.back();
    const SchedulePut& put = schedule_puts_[life->newest()->rule.content_hash - 1];
    const std::uint64_t decided = counters.made + counters.skipped + counters.merged;
    // Whether a run waits no metric tells, and so which number is next, where both say the same instant.
    std::optional<RuleStretch> fresh;
    for (const std::uint64_t first : {decided + 1, decided + 2}) {
        const RuleStretch* last = life->stretch_of(first - 1);
        const bool is_of_it = last != nullptr && last->from_ms() == old.from_ms();
        const DueMs last_ms = is_of_it ? last->time(first - 1).value_or(0) : 0;
        const std::int64_t ahead_ms = last_ms == 0 ? 0 : last->times().ahead_ms(last_ms);
        const std::optional<DueMs> next = put.times.back().next_after_change(last_ms, ahead_ms, old.from_ms());
        if (next != counters.next_ms) continue;
        if (old.time(first) != next) rare_.met(Rare::time_moved_by_zone_data);
        model.is_blurred = fresh.has_value();
        fresh.emplace(old, put.times.back(), first, *next, zone_version_);
    }
    if (fresh) return life->stretches.push_back(*std::move(fresh));
    schedule_violates(model, "C6",
                      "with other zone data its next time is " + std::to_string(counters.next_ms) +
                          ", which is none, or came before");
}

void Oracle::check_goes_on(const ScheduleModel& model, const ScheduleTold& before, const ScheduleTold& after) {
    const ScheduleState& old = before.state;
    const ScheduleState& now = after.state;
    const bool goes_back = now.next_run < old.next_run || now.made < old.made || now.late < old.late ||
                           now.fired < old.fired || now.skipped < old.skipped || now.merged < old.merged ||
                           now.last_id < old.last_id || now.from_ms < old.from_ms || now.last_ms < old.last_ms;
    if (goes_back) {
        return schedule_violates(model, "C6",
                                 "a count of revision " + std::to_string(old.revision) +
                                     " is greater than of revision " + std::to_string(now.revision));
    }
    if (now.made - old.made > now.next_run - old.next_run + 1) {
        return schedule_violates(model, "C6", "more runs were made than times came");
    }
    const bool stays_paused =
        old.paused && now.paused && before.commands == after.commands && before.commands != UINT64_MAX;
    if (!stays_paused) return;
    if (now.next_run != old.next_run || now.made != old.made || now.skipped != old.skipped) {
        return schedule_violates(model, "C6", "it goes on in a pause");
    }
}

// Whether the times between the two, of one rule, can have been skipped as the counts say.
void Oracle::check_passed(const ScheduleModel& model, const ScheduleLife& life, const ScheduleState& before,
                          const ScheduleState& after) {
    const std::uint64_t skipped = after.skipped - before.skipped;
    const std::uint64_t merged = after.merged - before.merged;
    const std::uint64_t late_made = after.late - before.late;
    if (skipped > 0) {
        rare_.met(after.passed_why == PassedWhy::missed    ? Rare::times_missed
                  : after.passed_why == PassedWhy::too_old ? Rare::times_too_old
                  : after.passed_why == PassedWhy::paused  ? Rare::times_of_a_pause
                                                           : Rare::times_skipped_by_overlap);
    }
    if (merged > 0) {
        rare_.met(after.rule.misfire == Misfire::once && after.passed_why != PassedWhy::overlap
                      ? Rare::missed_times_merged
                      : Rare::times_merged_by_overlap);
    }
    if (late_made > 0) rare_.met(Rare::runs_made_up_for);
    if (after.waiting_ms != 0) rare_.met(Rare::run_waits_for_the_one_before);
    if (before.waiting_ms != 0 && after.waiting_ms == 0) rare_.met(Rare::waiting_run_made);
    if (!(before.rule == after.rule) || before.from_ms != after.from_ms) return;
    if (after.next_run - before.next_run > kTimesExplainedMost) return;
    const ScheduleRule& rule = after.rule;
    std::vector<std::optional<DueMs>> times;  // of these numbers, and of the one behind
    for (std::uint64_t number = before.next_run; number <= after.next_run; ++number) {
        const RuleStretch* stretch = life.stretch_of(number);
        if (stretch == nullptr || stretch->from_ms() != after.from_ms) return;
        times.push_back(stretch->time(number));
        if (!times.back() && number < after.next_run) return;
    }
    const auto is_late = [&](DueMs nominal) { return latest() - nominal > options_.run_on_time_ms; };
    const auto is_too_old = [&](DueMs nominal) {
        return rule.misfire_window_ms != 0 && latest() - nominal > rule.misfire_window_ms;
    };
    std::uint64_t may_be_late = 0;
    for (std::size_t i = 0; i + 1 < times.size(); ++i) may_be_late += is_late(*times[i]) ? 1 : 0;
    const std::uint64_t waited = before.waiting_ms != 0 ? 1 : 0;
    const bool runs_out = before.made_up + waited + may_be_late > options_.runs_catch_up_max;
    std::uint64_t may_skip = 0;
    std::uint64_t may_merge = 0;
    for (std::size_t i = 0; i + 1 < times.size(); ++i) {
        const DueMs nominal = *times[i];
        const std::optional<DueMs> behind = times[i + 1];
        const bool by_misfire = rule.misfire == Misfire::skip || (rule.misfire == Misfire::all && runs_out);
        if (nominal < after.pass_until_ms || is_too_old(nominal) || (is_late(nominal) && by_misfire) ||
            rule.overlap == Overlap::skip) {
            ++may_skip;
        }
        const bool is_one_of_many =
            rule.misfire == Misfire::once && is_late(nominal) && behind.has_value() && is_late(*behind);
        if (is_one_of_many || rule.overlap == Overlap::queue_one) ++may_merge;
    }
    if (before.waiting_ms != 0) {
        may_merge += rule.overlap == Overlap::queue_one ? 1 : 0;
        may_skip += is_too_old(before.waiting_ms) ? 1 : 0;
    }
    // Where zone data changed in between, the one behind was another when it was decided.
    if (life.stretch_of(before.next_run) != life.stretch_of(after.next_run)) ++may_merge;
    // A run that had ended comes back by a kick or a redrive alone.
    const MessageModel* newest = message_of(after.last_id);
    const bool may_be_back = newest != nullptr && (newest->may_be_back || newest->returns_open > 0);
    const bool stays_unfinished = !may_be_back && queue_of(model.name_space, rule.queue).redriven_ms == 0;
    const bool is_as_before = before.pass_until_ms == after.pass_until_ms && rule.misfire_window_ms == 0;
    const bool makes_no_other = after.last_id == before.last_id && after.passed_why == PassedWhy::overlap;
    if (merged > 0 && rule.overlap == Overlap::skip && makes_no_other && is_as_before && stays_unfinished) {
        return schedule_violates(model, "C6", "times were merged into a run that overlap skipped");
    }
    // But in a walk of several shares, between which the room may be gone, a row is merged with the run that it makes.
    const bool is_one_walk = options_.run_steps_max > 50 * times.size();
    const bool makes_none = after.made == before.made && after.waiting_ms == before.waiting_ms;
    if (merged > 0 && rule.overlap != Overlap::queue_one && makes_none && is_one_walk) {
        return schedule_violates(model, "C6", "times were merged into a run that is none");
    }
    const bool has_newer = times.size() > 1 && after.waiting_run + 1 < after.next_run;
    if (after.waiting_ms != 0 && has_newer && skipped == 0 && is_one_walk) {
        return schedule_violates(model, "C6",
                                 "run " + std::to_string(after.waiting_run) + " waits, though time " +
                                     std::to_string(after.next_run - 1) + " came after it");
    }
    if (skipped <= may_skip && merged <= may_merge && late_made <= may_be_late + waited) return;
    schedule_violates(model, "C6",
                      "of times " + std::to_string(before.next_run) + " to " + std::to_string(after.next_run - 1) +
                          " " + std::to_string(skipped) + " were skipped (at most " + std::to_string(may_skip) + "), " +
                          std::to_string(merged) + " merged (at most " + std::to_string(may_merge) + ") and " +
                          std::to_string(late_made) + " made late (at most " + std::to_string(may_be_late) + ")");
}

}  // namespace duewheel

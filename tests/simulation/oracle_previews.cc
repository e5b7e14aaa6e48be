// Previews of schedules: each listed time follows from the rule, in order, with the effect of clock changes; none is
// missing; and each excluded time between them is listed with a valid reason.
#include <algorithm>

#include "simulation/oracle.h"

namespace duewheel {
namespace {

// Omitted times between two that are listed.
constexpr int kWalkMost = 2'000;

}  // namespace

void Oracle::schedule_previewed(const Request& request, const PreviewAnswer& answer) {
    const auto& asked = std::get<PreviewScheduleCommand>(request.command);
    const ScheduleModel& model = *schedule_of(request.command);
    if (answer.name != model.name || answer.name_space != model.name_space) {
        return violate("X", "a preview of another schedule");
    }
    if (answer.times.size() > asked.count || answer.excluded.size() > asked.count) {
        return schedule_violates(model, "C11", "a preview is longer than its limit");
    }
    if (model.there == ScheduleModel::There::no && !request.is_overlapped) {
        return schedule_violates(model, "C4", "it has a preview after it was removed");
    }
    rare_.met(Rare::schedule_previewed);
    const ScheduleState* state = model.surely();
    if (state == nullptr || request.is_overlapped || model.is_blurred || model.change_lost) return;
    const RuleStretch& stretch = model.life()->stretches.back();
    // From an instant on it is today's zone data that counts, also where nothing is left to be calculated again with
    // it.
    std::optional<TimesModel> anew;
    if (stretch.zone_version() != zone_version_) anew = TimesModel::make(state->rule.times, zone_version_);
    Previewed preview{model, *state, stretch, anew ? *anew : stretch.times(), anew.has_value(), asked, answer};
    preview_begins(request, preview);
    if (!violated()) preview_times(request, preview);
    if (!violated()) preview_left_out(preview);
}

// A preview begins with the next time: at the instant that was asked for, in a pause behind what is skipped.
void Oracle::preview_begins(const Request& request, Previewed& preview) {
    const ScheduleState& state = preview.state;
    const PreviewAnswer& answer = preview.answer;
    const bool passes_over = !preview.asked.from_ms && state.paused && state.next_ms != 0;
    if (preview.asked.from_ms) {
        preview.from_ms = *preview.asked.from_ms;
    } else if (passes_over && state.next_ms <= latest()) {
        // One that came between the question and the answer may be told or not.
        const auto next = [&](DueMs after) { return preview.times.next(after, preview.stretch.from_ms()); };
        const std::optional<DueMs> first = next(std::max(state.next_ms - 1, request.submitted_ms));
        const std::optional<DueMs> latest_first = next(latest());
        if (answer.times.empty()) {
            preview.from_ms = latest() + 1;
        } else {
            preview.from_ms = answer.times.front().nominal_ms;
            const bool is_too_early = !first || *preview.from_ms < *first;
            if (is_too_early || (latest_first && *preview.from_ms > *latest_first)) {
                return schedule_violates(preview.model, "C6",
                                         "a preview in a pause begins at " + std::to_string(*preview.from_ms) +
                                             ", which is not the first time that is still to come");
            }
            rare_.met(Rare::preview_in_a_pause);
        }
    } else {
        // Times that have come since it was told may be behind it.
        const std::uint64_t latest_number = preview.stretch.number_after(latest());
        preview.number = answer.times.empty() ? latest_number : answer.times.front().number;
        if (preview.number < state.next_run || preview.number > std::max(latest_number, state.next_run)) {
            return schedule_violates(preview.model, "C6",
                                     "a preview begins with number " + std::to_string(preview.number) +
                                         ", and the next one is from " + std::to_string(state.next_run) + " to " +
                                         std::to_string(latest_number));
        }
    }
}

std::optional<DueMs> Oracle::next_of_preview(const Previewed& preview) const {
    if (!preview.from_ms) return preview.stretch.time(preview.number);
    return preview.times.next(preview.seen.value_or(*preview.from_ms - 1), preview.stretch.from_ms());
}

void Oracle::preview_times(const Request& request, Previewed& preview) {
    const ScheduleState& state = preview.state;
    const SchedulePut& put = schedule_puts_[state.rule.content_hash - 1];
    for (const PreviewAnswer::Time& time : preview.answer.times) {
        if (state.paused && time.number != 0 && time.nominal_ms <= request.submitted_ms) {
            return schedule_violates(preview.model, "C6", "a preview numbers a time that the pause passes over");
        }
        const std::optional<DueMs> nominal = next_of_preview(preview);
        // From an instant on it may have passed, or be too far away to be counted: then it has no number.
        const bool has_number =
            preview.from_ms ? time.number == 0 || preview.is_anew || preview.stretch.time(time.number) == nominal
                            : time.number == preview.number;
        const bool is_right =
            nominal && time.nominal_ms == *nominal && has_number && time.due_ms == due_of_run(put, *nominal);
        if (!is_right) {
            return schedule_violates(preview.model, "C6",
                                     "a preview tells time " + std::to_string(time.number) + " at " +
                                         std::to_string(time.nominal_ms) + ", due at " + std::to_string(time.due_ms) +
                                         ", which does not follow from the rule");
        }
        if (time.note != preview.times.note(*nominal)) {
            return schedule_violates(preview.model, "C6",
                                     "a preview says of the time at " + std::to_string(*nominal) + " that clocks do " +
                                         std::string(clock_note_name(time.note)) + " to it, and they do " +
                                         std::string(clock_note_name(preview.times.note(*nominal))));
        }
        if (time.note == ClockNote::shifted) rare_.met(Rare::preview_with_a_shifted_time);
        if (time.note == ClockNote::second_pass) rare_.met(Rare::preview_with_a_second_pass);
        preview.seen = *nominal;
        ++preview.number;
    }
    if (preview.answer.times.size() == preview.asked.count) return;
    if (const std::optional<DueMs> missing = missing_in(preview)) {
        return schedule_violates(preview.model, "C6",
                                 "a preview ends before the time at " + std::to_string(*missing) + ", and has room");
    }
    rare_.met(Rare::preview_to_the_end);
}

// A time behind the last one that is told, and that the limit on their number leaves.
std::optional<DueMs> Oracle::missing_in(const Previewed& preview) const {
    const std::optional<DueMs> next = next_of_preview(preview);
    const std::uint64_t most = preview.state.rule.times.times;
    if (!next || most == 0 || !preview.from_ms) return next;
    if (preview.is_anew) return std::nullopt;
    return preview.stretch.number_after(*next - 1) > most ? std::nullopt : next;
}

// They lie between those that are told, or behind the last one where the rule has no more.
void Oracle::preview_left_out(const Previewed& preview) {
    const PreviewAnswer& answer = preview.answer;
    const TimesRule& rule = preview.state.rule.times;
    const std::optional<TimesModel> all = TimesModel::make(without_policies(rule), zone_version_);
    if (!answer.excluded.empty()) rare_.met(Rare::preview_with_times_left_out);
    if (answer.more_excluded && answer.excluded.size() != preview.asked.count) {
        return schedule_violates(preview.model, "C6", "a preview leaves out more than it tells, and has room");
    }
    if (!all || answer.times.empty()) return;
    const DueMs from_ms = preview.stretch.from_ms();
    DueMs at = preview.asked.from_ms.value_or(answer.times.front().nominal_ms) - 1;
    // In a pause some may come before the first that is told.
    std::size_t told = 0;
    while (told < answer.excluded.size() && answer.excluded[told].nominal_ms <= at) ++told;
    for (int left = kWalkMost; left > 0; --left) {
        const std::optional<DueMs> next = all->next(at, from_ms);
        if (!next || *next >= answer.times.back().nominal_ms) break;
        at = *next;
        if (preview.times.next(at - 1, from_ms) == at) continue;
        if (told == answer.excluded.size()) {
            if (answer.more_excluded) return rare_.met(Rare::preview_leaves_out_more);
            return schedule_violates(preview.model, "C6",
                                     "a preview does not say that it leaves out the time at " + std::to_string(at));
        }
        const PreviewAnswer::Excluded& one = answer.excluded[told++];
        if (one.nominal_ms != at || !preview.times.may_be_left_out(at, one.why)) {
            return schedule_violates(preview.model, "C6",
                                     "a preview leaves out the time at " + std::to_string(one.nominal_ms) + " as " +
                                         std::string(one.why) + ", and the one at " + std::to_string(at) + " is");
        }
    }
}

}  // namespace duewheel

#include "server/log_cleaning.h"

#include <algorithm>
#include <cassert>

#include "base/planted_bugs.h"

namespace duewheel {
namespace {

// What a record takes beside its body, about.
constexpr std::uint64_t kRecordBytesAbout = 64;

}  // namespace

std::uint64_t LogCleaning::log_bytes() const {
    std::uint64_t bytes = parts_.journal().catalog().bytes();
    for (const Carried& carried : carried_) bytes -= std::min(bytes, carried.bytes);
    return bytes;
}

Sequence LogCleaning::begins_at() const {
    return carried_.empty() ? parts_.journal().first_sequence() : carried_.back().up_to;
}

bool LogCleaning::log_is_too_long() const {
    const std::uint64_t bytes = log_bytes();
    const std::uint64_t needed = parts_.engine().totals().needed_bytes + parts_.index().outcome_bytes();
    const std::uint64_t left = kSegmentsLeft * parts_.journal().room().segment_bytes;
    if (was_full_ && begins_at() < full_pass_until_ && bytes > needed + needed / 4 + left) return true;
    return bytes > std::max(rest_until_bytes_, 2 * needed + left);
}

bool LogCleaning::is_far_ahead() const {
    std::uint64_t bytes = 0;
    for (const Carried& carried : carried_) bytes += carried.carried_bytes;
    return was_full_ && bytes >= parts_.journal().room().segment_bytes;
}

// Closing it early wastes its rest, so two segments at least have to go for it; and the commit that says so needs
// another one.
bool LogCleaning::waits_for_open_segment() const {
    if (!was_full_ || carried_.size() < 2 || parts_.journal().ready_spares() == 0) return false;
    const SegmentRoom room = parts_.journal().room();
    const auto newest = parts_.journal().catalog().snapshot().back();
    return !room.closed && carried_.front().last_carry >= newest->first_sequence();
}

// What was carried has to be in the index; so has the end of what was not. But when that end stands in the open
// segment, and a full disk has no segment to go on with, that may never be: so where nothing was carried each table may
// be the one after which nothing is needed.
bool LogCleaning::may_measure() const {
    if (carried_.empty()) return false;
    const Sequence held = parts_.index().position().totals.sequence;
    return carried_.front().last_carry <= held || (!carried_.front().has_carries && held > measured_at_);
}

void LogCleaning::begin_next_segment() {
    const Sequence from = begins_at();
    for (const std::shared_ptr<const SegmentFile>& segment : parts_.journal().catalog().snapshot()) {
        if (segment->first_sequence() < from) continue;
        if (segment->header().number > parts_.index().position().segment) return;  // not in the index yet
        if (pass_until_ == 0) pass_until_ = parts_.engine().totals().sequence + 1;
        const SegmentEnd end = segment->end();
        carrying_ = {end.totals.sequence + 1, segment->header().segment_bytes, 0, 0, false, segment};
        cleaner_ = std::make_unique<Cleaner>(segment, parts_.index());
        return;
    }
}

void LogCleaning::end_pass() {
    pass_until_ = 0;
    rest_until_bytes_ = 0;
    if (log_is_too_long()) rest_until_bytes_ = log_bytes() + log_bytes() / 4;
}

LogCleaning::Step LogCleaning::next() {
    const bool is_full = parts_.space().is_full();
    if (is_full && !was_full_) full_pass_until_ = parts_.engine().totals().sequence + 1;
    was_full_ = is_full;
    if (running_ || replies_awaited_ > 0 || stating_) return Step::none;
    Step step = Step::none;
    if (to_drop_) {
        const bool may_drop =
            !parts_.engine().awaits_answer_until(drop_after_ticket_) || planted(PlantedBug::segment_dropped_under_read);
        if (may_drop) step = Step::drop;
    } else if (may_measure()) {
        measured_at_ = parts_.index().position().totals.sequence;
        step = Step::measure;
    } else {
        if (cleaner_ == nullptr && log_is_too_long() && !is_far_ahead()) begin_next_segment();
        if (cleaner_ != nullptr) {
            step = Step::find;
        } else if (waits_for_open_segment()) {
            parts_.engine().close_segment();
        }
    }
    running_ = step != Step::none;
    return step;
}

Result<LogCleaning::Found> LogCleaning::run(Step step) const {
    Found found;
    found.step = step;
    switch (step) {
        case Step::find: {
            found.generation = parts_.engine().generation().load();
            Result<std::vector<CarryCandidate>> candidates = cleaner_->next();
            if (!candidates) return std::move(candidates).error();
            found.candidates = *std::move(candidates);
            found.finished = cleaner_->finished();
            break;
        }
        case Step::measure: {
            const Result<std::map<Sequence, std::uint64_t>> needed = parts_.index().needed_counts();
            if (!needed) return needed.error();
            found.finished = true;
            for (const auto& [first, count] : *needed) {
                if (planted(PlantedBug::segment_dropped_too_soon)) break;
                if (first < carried_.front().up_to && count > 0) found.finished = false;
            }
            break;
        }
        case Step::drop:
            if (Status dropped = parts_.journal().drop_before(*to_drop_); !dropped) return std::move(dropped).error();
            break;
        case Step::none:
            break;
    }
    return found;
}

void LogCleaning::done(Found found) {
    running_ = false;
    switch (found.step) {
        case Step::find:
            for (CarryCandidate& candidate : found.candidates) {
                carrying_.carried_bytes += kRecordBytesAbout + candidate.body.size();
                carried_bytes_ += kRecordBytesAbout + candidate.body.size();
                if (candidate.is_settings()) {
                    CarrySettingsCommand settings{std::move(candidate.row.state.name_space),
                                                  std::move(candidate.row.state.queue), candidate.row.place};
                    ++replies_awaited_;
                    parts_.engine().submit(std::move(settings), kTokenBit | replies_awaited_);
                    continue;
                }
                if (candidate.is_schedule()) {
                    CarryScheduleCommand schedule{std::move(candidate.row.state.name_space),
                                                  std::move(candidate.row.state.queue), candidate.row.place,
                                                  std::move(candidate.body)};
                    ++replies_awaited_;
                    parts_.engine().submit(std::move(schedule), kTokenBit | replies_awaited_);
                    continue;
                }
                CarryCommand command;
                command.row = std::move(candidate.row);
                command.generation = found.generation;
                command.record_kind = candidate.kind;
                command.record_body = std::move(candidate.body);
                ++replies_awaited_;
                parts_.engine().submit(std::move(command), kTokenBit | replies_awaited_);
            }
            if (found.finished) {
                cleaner_.reset();
                if (carrying_.last_carry == 0) carrying_.last_carry = parts_.engine().totals().sequence;
                carried_.push_back(std::move(carrying_));
                if (begins_at() >= pass_until_) end_pass();
            }
            break;
        case Step::measure:
            if (found.finished) {
                stating_ = true;
                parts_.engine().submit(CarryDoneCommand{carried_.front().up_to}, kTokenBit);
            } else if (carried_.front().last_carry <= measured_at_) {  // something moved under the first look
                carrying_ = std::move(carried_.front());
                carried_.pop_front();
                carrying_.last_carry = 0;
                carrying_.has_carries = false;
                cleaner_ = std::make_unique<Cleaner>(carrying_.segment, parts_.index());
            }
            break;
        case Step::drop:
            ++segments_dropped_;
            to_drop_.reset();
            measured_at_ = 0;
            carried_.pop_front();
            break;
        case Step::none:
            break;
    }
}

Status LogCleaning::reply(const Reply& reply) {
    if (const auto* error = std::get_if<Error>(&reply)) {
        if (error->code != "too_busy") return *error;
        // The carry was not taken: the counts will tell, and the segment is looked through again.
    }
    const auto* answer = std::get_if<CarryAnswer>(&reply);
    if (stating_) {
        stating_ = false;
        if (answer != nullptr) {
            to_drop_ = carried_.front().up_to;
            drop_after_ticket_ = parts_.engine().newest_ticket();
        }
        return {};
    }
    assert(replies_awaited_ > 0);
    --replies_awaited_;
    if (answer != nullptr && answer->carried) {
        Carried& of = cleaner_ != nullptr ? carrying_ : carried_.back();
        of.last_carry = std::max(of.last_carry, answer->sequence);
        of.has_carries = true;
    }
    return {};
}

}  // namespace duewheel

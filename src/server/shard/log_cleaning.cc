#include "server/shard/log_cleaning.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/error_codes.h"

namespace duewheel {
namespace {

// The approximate size of a record without its body.
constexpr std::uint64_t kRecordBytesAbout = 64;

constexpr std::uint64_t kBytesTogether = 64u << 20;

}  // namespace

std::uint64_t LogCleaning::log_bytes() const {
    const std::uint64_t bytes = parts_.journal().catalog().bytes();
    return bytes - std::min(bytes, bytes_relocated_over());
}

Sequence LogCleaning::begins_at() const {
    return relocated_.empty() ? parts_.journal().first_sequence() : relocated_.back().up_to;
}

std::uint64_t LogCleaning::needed_bytes() const {
    return parts_.engine().totals().needed_bytes + parts_.index().outcome_bytes();
}

std::uint64_t LogCleaning::left_bytes() const {
    return kSegmentsLeft * parts_.journal().segment_bytes();
}

std::uint64_t LogCleaning::bound_bytes() const {
    return 2 * needed_bytes() + left_bytes();
}

bool LogCleaning::is_pressed() const {
    return parts_.log_space() >= LogSpace::cleaning;
}

void LogCleaning::see_space() {
    const bool is_full = parts_.space().is_full();
    const bool becomes_full = is_full && !was_full_;
    was_full_ = is_full;
    const bool is_over = !full_pass_is_thorough_ || begins_at() >= full_pass_until_;
    const bool may_gain = needed_bytes() + parts_.journal().segment_bytes() / 8 <= full_pass_needed_;
    if (!becomes_full && !(is_pressed() && is_over && may_gain)) return;
    full_pass_is_thorough_ = !becomes_full;
    full_pass_until_ = parts_.engine().totals().sequence + 1;
    full_pass_needed_ = needed_bytes();
}

// Waits until the log has grown by the set amount, or an eighth of it has ended.
bool LogCleaning::is_backing_off() const {
    const std::uint64_t bytes = log_bytes();
    return bytes <= rest_until_bytes_ && needed_bytes() + bytes / 8 > rest_needed_bytes_;
}

bool LogCleaning::log_is_too_long() const {
    const std::uint64_t bytes = log_bytes();
    const std::uint64_t needed = needed_bytes();
    const std::uint64_t slack = is_pressed() && full_pass_is_thorough_ ? 0 : needed / 4 + left_bytes();
    if (was_full_ && begins_at() < full_pass_until_ && bytes > needed + slack) return true;
    return bytes > bound_bytes() && !is_backing_off();
}

std::size_t LogCleaning::chunk_bytes() const {
    const bool is_far_behind = log_bytes() > bound_bytes() + bound_bytes() / 4;
    return is_far_behind && !was_full_ ? 4 * Cleaner::kChunkBytes : Cleaner::kChunkBytes;
}

bool LogCleaning::is_far_ahead() const {
    std::uint64_t bytes = 0;
    for (const Relocated& relocated : relocated_) bytes += relocated.relocated_bytes;
    return was_full_ && bytes >= parts_.journal().segment_bytes();
}

std::uint64_t LogCleaning::bytes_relocated_over() const {
    std::uint64_t bytes = 0;
    for (const Relocated& relocated : relocated_) bytes += relocated.bytes;
    return bytes;
}

// The removal of a segment needs a commit, so small segments are removed together.
bool LogCleaning::is_enough_relocated() const {
    return was_full_ || bytes_relocated_over() >= kBytesTogether;
}

// Closing the open segment early wastes its unused space, so at least the size of two segments must become free for it;
// with other writers it is filled soon anyway. On a full disk the commit that closes it needs another segment.
bool LogCleaning::waits_for_open_segment() const {
    if (bytes_relocated_over() < 2 * parts_.journal().segment_bytes()) return false;
    if (was_full_ ? parts_.journal().ready_spares() == 0
                  : parts_.engine().now() < relocated_.front().finished_ms + kWaitForSegmentMs) {
        return false;
    }
    const SegmentRoom room = parts_.journal().room();
    const auto newest = parts_.journal().catalog().snapshot().back();
    return !room.closed && relocated_.front().last_relocation >= newest->first_sequence();
}

// Relocated records must be in the index, and so must the ends of records that were not relocated. But if such an end
// is in the open segment, and a full disk has no next segment, that may never happen: so if nothing was relocated, the
// segments are measured again after each table.
bool LogCleaning::may_measure() const {
    if (relocated_.empty()) return false;
    const Sequence held = parts_.index().position().totals.sequence;
    return relocated_.front().last_relocation <= held || (!relocated_.front().has_relocations && held > measured_at_);
}

void LogCleaning::begin_next_segment() {
    const Sequence from = begins_at();
    for (const std::shared_ptr<const SegmentFile>& segment : parts_.journal().catalog().snapshot()) {
        if (segment->first_sequence() < from) continue;
        if (segment->header().number > parts_.index().position().segment) return;  // not in the index yet
        if (pass_until_ == 0) {
            pass_until_ = parts_.engine().totals().sequence + 1;
            pass_bytes_ = pass_relocated_bytes_ = 0;
            pass_begin_ = parts_.engine().totals();
        }
        const SegmentEnd end = segment->end();
        relocating_ = {end.totals.sequence + 1, segment->header().segment_bytes, 0, 0, 0, false, segment};
        cleaner_ = std::make_unique<Cleaner>(segment, parts_.index(), outcomes_from_);
        return;
    }
}

void LogCleaning::end_pass() {
    pass_until_ = 0;
    rest_until_bytes_ = 0;
    const std::uint64_t most = pass_bytes_ - pass_bytes_ / 4;
    const Totals& totals = parts_.engine().totals();
    // Dead letters are in no digest: that some of them ended shows in what is needed.
    const bool was_alone = totals.digest == pass_begin_.digest && totals.id_counter == pass_begin_.id_counter &&
                           totals.needed_bytes >= pass_begin_.needed_bytes - pass_begin_.needed_bytes / 8;
    const bool gained_little = pass_relocated_bytes_ > most || (was_alone && log_bytes() > most);
    if (!gained_little) return;
    rest_until_bytes_ = log_bytes() + log_bytes() / 4;
    rest_needed_bytes_ = needed_bytes();
}

LogCleaning::Step LogCleaning::next() {
    see_space();
    if (running_ || replies_awaited_ > 0 || stating_) return Step::none;
    Step step = Step::none;
    if (to_drop_) {
        if (!parts_.engine().awaits_answer_until(drop_after_ticket_)) step = Step::drop;
    } else if (is_enough_relocated() && may_measure()) {
        step = Step::measure;
    } else {
        if (cleaner_ == nullptr && log_is_too_long() && !is_far_ahead()) begin_next_segment();
        if (cleaner_ != nullptr) {
            step = Step::find;
            chunk_bytes_ = chunk_bytes();
        } else if (may_measure()) {
            step = Step::measure;
        } else if (waits_for_open_segment()) {
            parts_.engine().close_segment();
        }
    }
    if (step == Step::measure) measured_at_ = parts_.index().position().totals.sequence;
    running_ = step != Step::none;
    return step;
}

Result<LogCleaning::Found> LogCleaning::run(Step step) const {
    Found found;
    found.step = step;
    switch (step) {
        case Step::find: {
            found.generation = parts_.engine().generation().load();
            Result<Cleanings> cleanings = cleaner_->next(chunk_bytes_);
            if (!cleanings) return std::move(cleanings).error();
            found.cleanings = *std::move(cleanings);
            found.finished = cleaner_->finished();
            break;
        }
        case Step::measure: {
            const Result<std::map<Sequence, std::uint64_t>> needed = parts_.index().needed_counts();
            if (!needed) return needed.error();
            Sequence first_needed = ~Sequence{0};
            for (const auto& [first, count] : *needed) {
                if (count > 0) first_needed = std::min(first_needed, first);
            }
            for (const Relocated& relocated : relocated_) {
                if (relocated.up_to <= first_needed) found.up_to = relocated.up_to;
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

void LogCleaning::relocate(Cleanings cleanings, Generation generation) {
    for (RelocationCandidate& candidate : cleanings.candidates) {
        const std::size_t bytes = candidate.body.size();
        if (candidate.is_settings()) {
            relocate(
                RelocateSettingsCommand{std::move(candidate.row.state.name_space), std::move(candidate.row.state.queue),
                                        candidate.row.log_position, candidate.subject},
                bytes);
            continue;
        }
        if (candidate.is_rule()) {
            relocate(RelocateRuleCommand{candidate.subject, std::move(candidate.row.state.name_space),
                                         std::move(candidate.row.state.queue), candidate.row.log_position,
                                         std::move(candidate.body)},
                     bytes);
            continue;
        }
        RelocateCommand command;
        command.row = std::move(candidate.row);
        command.generation = generation;
        command.record_kind = candidate.kind;
        command.record_body = std::move(candidate.body);
        relocate(std::move(command), bytes);
    }
    OutcomesToRelocate& outcomes = cleanings.outcomes;
    if (outcomes.count == 0) return;
    outcomes_from_ = outcomes.up_to;
    const std::size_t bytes = outcomes.rows.size();
    relocate(RelocateOutcomesCommand{std::move(outcomes.rows), outcomes.count, outcomes.segment, outcomes.up_to},
             bytes);
}

void LogCleaning::relocate(Command command, std::uint64_t bytes) {
    relocating_.relocated_bytes += kRecordBytesAbout + bytes;
    relocated_bytes_ += kRecordBytesAbout + bytes;
    ++replies_awaited_;
    parts_.engine().submit(std::move(command), tokens_.next());
}

void LogCleaning::done(Found found) {
    running_ = false;
    switch (found.step) {
        case Step::find:
            relocate(std::move(found.cleanings), found.generation);
            if (found.finished) {
                cleaner_.reset();
                relocating_.finished_ms = parts_.engine().now();
                pass_bytes_ += relocating_.bytes;
                pass_relocated_bytes_ += relocating_.relocated_bytes;
                if (relocating_.last_relocation == 0) relocating_.last_relocation = parts_.engine().totals().sequence;
                relocated_.push_back(std::move(relocating_));
                if (begins_at() >= pass_until_) end_pass();
            }
            break;
        case Step::measure:
            if (found.up_to != 0) {
                stating_ = true;
                stated_up_to_ = found.up_to;
                parts_.engine().submit(RelocationDoneCommand{found.up_to}, tokens_.next());
            } else if (relocated_.front().last_relocation <= measured_at_) {  // it changed during the first measurement
                relocating_ = std::move(relocated_.front());
                relocated_.pop_front();
                relocating_.last_relocation = 0;
                relocating_.has_relocations = false;
                cleaner_ = std::make_unique<Cleaner>(relocating_.segment, parts_.index(), outcomes_from_);
            }
            break;
        case Step::drop:
            for (; !relocated_.empty() && relocated_.front().up_to <= *to_drop_; relocated_.pop_front())
                ++segments_dropped_;
            to_drop_.reset();
            measured_at_ = 0;
            break;
        case Step::none:
            break;
    }
}

Status LogCleaning::reply(const Reply& reply) {
    if (const auto* error = std::get_if<Error>(&reply)) {
        if (error->code != "too_busy"_code) return *error;
        // The relocation was not applied: the counts show it, and the segment is scanned again.
    }
    const auto* answer = std::get_if<RelocateAnswer>(&reply);
    if (stating_) {
        stating_ = false;
        if (answer != nullptr) {
            to_drop_ = stated_up_to_;
            drop_after_ticket_ = parts_.engine().newest_ticket();
        }
        return {};
    }
    assert(replies_awaited_ > 0);
    --replies_awaited_;
    if (answer != nullptr && answer->relocated) {
        Relocated& of = cleaner_ != nullptr ? relocating_ : relocated_.back();
        of.last_relocation = std::max(of.last_relocation, answer->sequence);
        of.has_relocations = true;
    }
    return {};
}

}  // namespace duewheel

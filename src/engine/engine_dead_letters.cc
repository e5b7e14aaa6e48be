// The dead of a queue as a whole: bringing them back (redrive), letting go of those that have been kept long enough,
// and listing them.
//
// They stand in two places, in the recent tier and in the index, each in the order of their deaths. A job walks both,
// merged, a chunk a batch, so that a million of them hold nobody up. At most one job lets go at a time; when there is
// one to begin is known from a lower bound for each queue that has dead ones.
#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "engine/engine.h"

namespace duewheel {

void Engine::redrive(const RedriveCommand& command, ReplyToken token) {
    const std::uint64_t max = command.max.value_or(options_.redrive_max);
    if (max == 0 || max > options_.redrive_max) {
        return reply(
            token,
            Error{"bad_max",
                  "max is from 1 to " + std::to_string(options_.redrive_max) + ": call again for what is left", "max"});
    }
    if (recent_.queues().find(command.name_space, command.queue) == kNoQueue) return reply(token, unknown_queue());
    if (!may_add(Adds::change)) {
        ++counters_.changes_refused_full;
        return reply(token, no_space_for(Adds::change));
    }
    if (redrives_.size() >= options_.redrives_max + (letting_go_ ? 1 : 0)) return reply(token, too_busy());
    Redrive& job = redrives_.emplace_back();
    job.number = next_redrive_++;
    job.token = token;
    job.queue = {command.name_space, command.queue};
    job.max = max;
    job.until_ms = now_ + 1;
    ask_for_dead(job);
}

void Engine::ask_for_dead(Redrive& job) {
    job.asked = true;
    job.rows.clear();
    job.next_row = 0;
    Asked asked;
    asked.what = Ask::dead_stretch;
    asked.redrive = job.number;
    // Who lets go has to know as well who comes next.
    const DueMs until = job.lets_go ? std::numeric_limits<DueMs>::max() : job.until_ms;
    ask(Question{0, ScanDead{job.queue.name_space, job.queue.queue, job.from, until, options_.redrive_chunk}},
        std::move(asked));
}

void Engine::take_dead_stretch(std::uint64_t number, Stretch stretch, Generation generation) {
    const auto job =
        std::find_if(redrives_.begin(), redrives_.end(), [&](const Redrive& each) { return each.number == number; });
    assert(job != redrives_.end());
    job->asked = false;
    job->rows = std::move(stretch.rows);
    job->next_row = 0;
    job->complete = stretch.complete;
    job->generation = generation;
}

bool Engine::has_redrives_to_add() const {
    return !puts_held_back() && std::any_of(redrives_.begin(), redrives_.end(), [this](const Redrive& job) {
        return !job.asked && !(job.lets_go && log_stands_still());
    });
}

// What they bring back fills segments and memory as puts do, and waits with them for segments to be sealed.
void Engine::add_redrives() {
    if (puts_held_back()) return;
    if (!may_add(Adds::change)) end_redrives();
    if (has_dead_to_let_go()) begin_letting_go();
    for (auto job = redrives_.begin(); job != redrives_.end();) {
        job = !job->asked && redrive_chunk(*job) ? redrives_.erase(job) : std::next(job);
    }
}

// Adds the next of its messages to the batch. True when the call has come to its end, and its answer goes with the last
// of them, or at once where there is none: what earlier batches held is durable.
bool Engine::redrive_chunk(Redrive& job) {
    if (job.generation != generation_.load(std::memory_order_relaxed)) return ask_for_dead(job), false;
    const QueueNumber queue = recent_.queues().find(job.queue.name_space, job.queue.queue);
    std::uint32_t added = 0;
    bool has_more = true;
    std::optional<Error> refused;
    DuePosition at = kNoBacklog;
    while (has_more && job.done < job.max) {
        const bool is_full = added == options_.redrive_chunk || batch_->count() >= options_.batch_operations_max ||
                             !has_room(kRecordOverheadMax);
        if (is_full) return false;
        while (job.next_row < job.rows.size() && (recent_.find(job.rows[job.next_row].id) != kNoEntry ||
                                                  recent_.outcome(job.rows[job.next_row].id) != nullptr)) {
            ++job.next_row;  // the recent tier knows better
        }
        const bool has_row = job.next_row < job.rows.size();
        EntryNumber number = queue == kNoQueue ? kNoEntry : recent_.first_dead(queue, job.from.due_ms, job.from.id);
        at = kNoBacklog;
        if (number != kNoEntry) at = {recent_.ended_ms(recent_.entry(number)), recent_.entry(number).id};
        if (!has_row && !job.complete) {  // up to the last row both are known, and behind it only the recent tier is
            DuePosition last;
            if (!job.rows.empty()) last = {job.rows.back().ended_ms, job.rows.back().id};
            if (at > last) {
                job.from = std::max(job.from, {last.due_ms, last.id + 1});
                return ask_for_dead(job), false;
            }
        }
        const MessageRow* row = has_row ? &job.rows[job.next_row] : nullptr;
        if (row != nullptr && DuePosition{row->ended_ms, row->id} < at) {
            at = {row->ended_ms, row->id};
        } else {
            row = nullptr;
        }
        has_more = at.due_ms < job.until_ms;
        if (!has_more) break;
        if (Status room = job.lets_go ? Status() : check_room(queue); !room) {
            refused = std::move(room).error();
            break;
        }
        if (row != nullptr) {
            number = admit(*row);
            ++job.next_row;
        }
        const Entry& entry = recent_.entry(number);
        if (entry.in_batch) return false;  // kicked, or only carried: the next batch sees which
        job.from = {at.due_ms, at.id + 1};
        add(number, job.lets_go ? let_go_of(entry) : return_of(entry, Cause::redriven), 0, Error{});
        ++job.done;
        ++added;
    }
    if (job.lets_go) return finish_letting_go(job.letting_go_of, at), true;
    const RedriveAnswer answer{job.done, has_more};
    if (job.done == 0 && refused) {
        reply(job.token, *std::move(refused));
    } else if (added == 0) {
        reply(job.token, answer);
    } else {
        Operation& last = batch_->operations().back();
        last.token = job.token;
        last.reply = answer;
    }
    return true;
}

// ---- letting go

// Some have died in the queue, at `at_ms` or later.
void Engine::expect_dead(QueueNumber number, DueMs at_ms) {
    Queue& of = queue(number);
    if (of.dead_since_ms) return;
    of.dead_since_ms = at_ms;
    queues_with_dead_.emplace(at_ms, number);
}

void Engine::forget_dead(QueueNumber number) {
    Queue& of = queue(number);
    if (of.dead_since_ms) queues_with_dead_.erase({*of.dead_since_ms, number});
    of.dead_since_ms.reset();
}

// When some may have been kept long enough; kNoWakeup: nobody is dead, or they are being let go.
DueMs Engine::next_letting_go() const {
    if (letting_go_ || queues_with_dead_.empty()) return kNoWakeup;
    return queues_with_dead_.begin()->first + options_.dead_kept_ms;
}

bool Engine::has_dead_to_let_go() const {
    return !puts_held_back() && !log_stands_still() && next_letting_go() <= now_;
}

void Engine::begin_letting_go() {
    letting_go_ = true;
    Redrive& job = redrives_.emplace_back();
    job.number = next_redrive_++;
    job.lets_go = true;
    job.letting_go_of = queues_with_dead_.begin()->second;
    job.queue = recent_.queues().name(job.letting_go_of);
    job.max = std::numeric_limits<std::uint64_t>::max();
    job.until_ms = now_ - options_.dead_kept_ms + 1;
    ask_for_dead(job);
}

Record Engine::let_go_of(const Entry& entry) const {
    assert(is_legal_move(entry.state, State::expired));
    Record record = changed(entry, RecordKind::end, Cause::kept_long_enough);
    record.state.state = State::expired;
    return record;
}

// `next`: who died after those that were let go.
void Engine::finish_letting_go(QueueNumber number, DuePosition next) {
    letting_go_ = false;
    forget_dead(number);
    if (next != kNoBacklog) expect_dead(number, next.due_ms);
}

// ---- listing

void Engine::list_dead(Listing listing) {
    const ListCommand& command = listing.command;
    ScanDead wanted{command.name_space, command.queue, command.from, command.until_ms, command.limit};
    Asked asked;
    asked.what = Ask::dead_listing;
    asked.listing = std::move(listing);
    ask(Question{0, std::move(wanted)}, std::move(asked));
}

void Engine::finish_dead_listing(Listing listing, Stretch stretch, Generation generation) {
    if (generation != generation_.load(std::memory_order_relaxed)) return list_dead(std::move(listing));
    const ListCommand& command = listing.command;
    const auto position = [](const ListedMessage& message) {
        return DuePosition{message.row.ended_ms, message.row.id};
    };
    ListAnswer answer;
    answer.query = command.query;
    std::vector<ListedMessage>& page = answer.listed;
    for (MessageRow& row : stretch.rows) {
        if (recent_.find(row.id) == kNoEntry && recent_.outcome(row.id) == nullptr)
            page.push_back(listed(std::move(row)));
    }
    const QueueNumber queue = recent_.queues().find(command.name_space, command.queue);
    DuePosition from = command.from;
    for (std::uint32_t taken = 0; queue != kNoQueue && taken <= command.limit; ++taken) {
        const EntryNumber number = recent_.first_dead(queue, from.due_ms, from.id);
        if (number == kNoEntry) break;
        ListedMessage message = listed(recent_.entry(number));
        if (message.row.ended_ms >= command.until_ms) break;
        from = {message.row.ended_ms, message.row.id + 1};
        page.push_back(std::move(message));
    }
    std::sort(page.begin(), page.end(),
              [&](const ListedMessage& left, const ListedMessage& right) { return position(left) < position(right); });
    if (!stretch.complete) {  // beyond its last row the index may have more
        answer.next = stretch.next;
        std::erase_if(page, [&](const ListedMessage& message) { return position(message) >= stretch.next; });
    }
    if (page.size() > command.limit) {
        page.resize(command.limit);
        answer.next = DuePosition{page.back().row.ended_ms, page.back().row.id + 1};
    }
    counters_.listed += page.size();
    end_listing(listing.token, std::move(answer));
}

}  // namespace duewheel

// The frame of the engine: start, turns, and batches from being built to being applied. What commands mean stands in
// engine_commands.cc, what falls due in engine_firing.cc, what is read from the index in engine_loading.cc, how queues
// are looked at in engine_listing.cc, expiry in engine_expiry.cc, order keys in engine_order.cc.
#include "engine/engine.h"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>

#include "base/planted_bugs.h"

namespace duewheel {

Engine::Engine(const EngineOptions& options, const EngineStart& start, RecentTier& recent)
    : options_(options),
      recent_(recent),
      signer_(start.token_key),
      wheel_(static_cast<Tick>(start.totals.server_time_ms)),
      now_(start.totals.server_time_ms),
      totals_(start.totals),
      segment_(start.segment),
      segment_fill_(start.segment_fill),
      segment_bytes_(start.segment_bytes != 0 ? start.segment_bytes : options.segment_bytes),
      block_bytes_(start.block_bytes),
      unsealed_(start.unsealed.begin(), start.unsealed.end()),
      durable_load_cursor_ms_(start.load_cursor_ms),
      window_ms_(options.window_min_ms),
      loaded_to_{start.load_cursor_ms, 0},
      loaded_until_ms_(start.load_cursor_ms),
      cache_(options.record_cache_bytes) {
    for (const EngineStart::Cursor& cursor : start.queue_cursors) {
        const QueueNumber number = recent_.queues().number(cursor.queue.name_space, cursor.queue.queue);
        queue(number).cursor = queue(number).durable_cursor = cursor.position;
    }
    for (const EngineStart::QueueState& state : start.queue_states) {
        const QueueNumber number = recent_.queues().number(state.queue.name_space, state.queue.queue);
        queue(number).counts = state.counts;
        if (state.settings.revision == 0) continue;
        take_settings(number, state.settings, state.settings_place, state.settings_bytes);
    }
}

namespace {

std::size_t content_bytes(const PutCommand& put) {
    return put.body.size() + put.headers.size() + put.content_type.size() + put.traceparent.size();
}

bool is_a_put(const Command& command) {
    return std::holds_alternative<PutCommand>(command) || std::holds_alternative<PutBatchCommand>(command);
}

// How many records a command adds at most.
std::size_t record_count(const Command& command) {
    const auto* batch = std::get_if<PutBatchCommand>(&command);
    return batch != nullptr ? batch->puts.size() : 1;
}

// Content that a put brings.
std::size_t put_bytes(const Command& command) {
    if (const auto* put = std::get_if<PutCommand>(&command)) return content_bytes(*put);
    std::size_t bytes = 0;
    if (const auto* batch = std::get_if<PutBatchCommand>(&command)) {
        for (const PutCommand& put : batch->puts) bytes += content_bytes(put);
    }
    return bytes;
}

// `overhead`: what a record takes at most, its texts of any length aside.
std::size_t record_bytes_at_most(const Command& command, std::size_t overhead) {
    if (is_a_put(command)) return record_count(command) * overhead + put_bytes(command);
    if (const auto* carry = std::get_if<CarryCommand>(&command)) return overhead + carry->record_body.size();
    if (const auto* fail = std::get_if<FailCommand>(&command)) return overhead + fail->reason.size();
    return overhead;
}

// Whether it may turn out that all of it was put before.
bool may_be_repeated(const Command& command) {
    if (const auto* put = std::get_if<PutCommand>(&command)) return !put->key.empty();
    const auto* batch = std::get_if<PutBatchCommand>(&command);
    return batch != nullptr &&
           std::any_of(batch->puts.begin(), batch->puts.end(), [](const PutCommand& put) { return !put.key.empty(); });
}

}  // namespace

Engine::~Engine() = default;

void Engine::submit(Command command, ReplyToken token) {
    if (const auto* asked = std::get_if<LeaseCommand>(&command)) return lease(*asked, token);
    const bool is_put = is_a_put(command);
    if (is_put && store_full_ && !may_be_repeated(command)) {
        counters_.refused_full += record_count(command);
        return reply(token, store_full());
    }
    // Cleaning limits itself, and an outcome that is not carried would go with the log's front.
    const bool cleans = std::holds_alternative<CarryCommand>(command) ||
                        std::holds_alternative<CarrySettingsCommand>(command) ||
                        std::holds_alternative<CarryDoneCommand>(command);
    if (!cleans && waiting_commands() >= options_.commands_waiting_max) return reply(token, too_busy());
    if (const auto* asked = std::get_if<GetCommand>(&command)) return get(*asked, token);
    if (const auto* asked = std::get_if<ListCommand>(&command)) return list(*asked, token);
    if (const auto* asked = std::get_if<DescribeQueueCommand>(&command)) return describe(*asked, token);
    if (const auto* asked = std::get_if<ListQueuesCommand>(&command)) return list_queues(*asked, token);
    const std::size_t bytes = put_bytes(command);
    if (waiting_bytes_ + bytes > options_.waiting_bytes_max) return reply(token, too_busy());
    waiting_bytes_ += bytes;
    Pending pending{std::move(command), token, std::nullopt, std::nullopt, 0, bytes};
    if (const auto* carry = std::get_if<CarryCommand>(&pending.command)) {
        pending.facts = carry->row;
        pending.facts_generation = carry->generation;
    }
    (is_put ? puts_ : commands_).push_back(std::move(pending));
}

void Engine::set_store_full(bool full) {
    store_full_ = full;
    if (!full) return;
    std::erase_if(puts_, [this](const Pending& put) {
        if (may_be_repeated(put.command)) return false;
        counters_.refused_full += record_count(put.command);
        waiting_bytes_ -= put.bytes;
        reply(put.token, store_full());
        return true;
    });
}

void Engine::advance_to(DueMs now) {
    now_ = std::max(now_, now);
    if (!started_) {
        started_ = true;
        // No earlier run got further than this with a delivery; see is_due_saved().
        past_until_ms_ = std::max(now_, totals_.server_time_ms + options_.unsaved_due_max_ms);
        newest_id_before_ = totals_.id_counter * kShardsMax + options_.shard;
        incarnation_ = totals_.commit + 1;  // every run commits an epoch first, so that no two runs share a number
        loaded_until_ms_ = std::max(loaded_until_ms_, now_ + window_ms_);
        for (EntryNumber number = 0; number < recent_.entry_limit(); ++number) {
            Entry& entry = recent_.entry(number);
            if (entry.id == 0) continue;
            entry.from_past = is_from_past(entry.id, entry.due_ms);
            join_line(number);
        }
        for (EntryNumber number = 0; number < recent_.entry_limit(); ++number) {
            if (recent_.entry(number).id != 0) settle(number);
        }
        for (QueueNumber number = 0; number < queues_.size(); ++number) mark(number);
    }
    fire_due();
    sweep();
    load();
    walk_purge();
    if (serving_) serve_queues();
    walk_listings();
    build_batch();
}

Effects Engine::take_effects() {
    return std::exchange(effects_, Effects{});
}

void Engine::reply(ReplyToken token, Reply with) {
    if (token != 0) effects_.replies.push_back({token, std::move(with)});
}

Queue& Engine::queue(QueueNumber number) {
    while (queues_.size() <= number) queues_.push_back(std::make_unique<Queue>());
    Queue& at = *queues_[number];
    if (!at.named) list_name(number);
    return at;
}

void Engine::mark(QueueNumber number) {
    Queue& marked = queue(number);
    if (marked.marked) return;
    marked.marked = true;
    marked_.push_back(number);
}

// ---- the batch

std::size_t Engine::waiting_commands() const {
    return looked_up_.size() + commands_.size() + looked_up_puts_.size() + puts_.size() + asked_.size();
}

bool Engine::puts_held_back() const {
    return unsealed_.size() >= options_.unsealed_segments_max;
}

std::uint64_t Engine::size_in_segment(std::size_t record_bytes) const {
    return commit_size_in_segment(record_bytes, block_bytes_);
}

std::uint64_t Engine::closing_room() const {
    return std::max<std::uint64_t>(kClosingRoomBytes, block_bytes_);
}

std::uint64_t Engine::closing_reserve() const {
    return std::max(segment_bytes_ / 32, closing_room());
}

// Whether the batch may grow by `bytes`. A fresh segment takes a first commit of any size.
bool Engine::has_room(std::size_t bytes) const {
    const std::size_t grown = batch_->bytes() + bytes;
    if (batch_->empty() && segment_fill_ == kSegmentHeaderBytes) return true;
    if (!batch_->empty() && grown > options_.batch_bytes_max) return false;
    return segment_fill_ + size_in_segment(grown) + closing_reserve() <= segment_bytes_;
}

bool Engine::must_close_segment() const {
    if (segment_fill_ == kSegmentHeaderBytes) return false;
    if (close_wanted_) return true;
    std::size_t next = 0;
    for (const std::deque<Pending>* waiting : {&looked_up_, &commands_}) {
        if (!waiting->empty())
            next = std::max(next, record_bytes_at_most(waiting->front().command, kRecordOverheadMax));
    }
    for (const std::deque<Pending>* waiting : {&looked_up_puts_, &puts_}) {
        if (!waiting->empty() && !puts_held_back()) {
            next = std::max(next, record_bytes_at_most(waiting->front().command, kRecordOverheadMax));
        }
    }
    if (!attempts_.empty() || !expiries_.empty() || purge_has_work() || !serving_ || confirm_at_ms_ <= now_)
        next = std::max(next, kRecordOverheadMax);
    return next != 0 && segment_fill_ + size_in_segment(next) + closing_reserve() > segment_bytes_;
}

void Engine::build_batch() {
    if (in_flight_ || !started_) return;
    if (segment_fill_ == kSegmentHeaderBytes) close_wanted_ = false;
    batch_ = std::make_unique<Batch>(totals_);
    if (must_close_segment()) {
        add_cursors();
        return hand_out(true);
    }
    if (!serving_) {
        Record epoch;
        epoch.kind = RecordKind::epoch;
        epoch.time_ms = now_;
        epoch.incarnation = incarnation_;
        batch_->add(epoch, kNoEntry, 0, Error{});
        return hand_out(false);
    }
    add_expiries();
    take_commands(looked_up_, false);
    take_commands(commands_, false);
    add_attempts();
    add_purged();
    take_commands(looked_up_puts_, true);
    take_commands(puts_, true);
    if (!batch_->empty() || confirm_at_ms_ <= now_) return hand_out(false);
    batch_.reset();
}

void Engine::take_commands(std::deque<Pending>& from, bool puts) {
    std::vector<Pending> deferred;
    for (std::size_t left = from.size(); left > 0; --left) {
        const bool is_full = batch_->count() + record_count(from.front().command) > options_.batch_operations_max;
        if (is_full && !batch_->empty()) break;
        if (puts && puts_held_back()) break;
        if (!has_room(record_bytes_at_most(from.front().command, kRecordOverheadMax))) break;
        Pending pending = std::move(from.front());
        from.pop_front();
        const std::size_t bytes = pending.bytes;
        switch (validate(pending)) {
            case Verdict::settled:
                waiting_bytes_ -= bytes;
                break;
            case Verdict::deferred:
                ++counters_.deferred;
                deferred.push_back(std::move(pending));
                break;
            case Verdict::asked:
                break;
        }
    }
    // They keep their order, and come before whatever was not looked at.
    for (auto last = deferred.rbegin(); last != deferred.rend(); ++last) from.push_front(std::move(*last));
}

// An attempt that has begun is written in the next batch, and nobody waits for it.
void Engine::add_attempts() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < attempts_.size(); ++i) {
        const EntryNumber number = recent_.find(attempts_[i]);
        if (number == kNoEntry) continue;
        Entry& entry = recent_.entry(number);
        if (!entry.attempt_queued) continue;
        if (entry.in_batch || !has_room(kRecordOverheadMax) || batch_->count() >= options_.batch_operations_max) {
            attempts_[kept++] = attempts_[i];
            continue;
        }
        entry.attempt_queued = false;
        if (entry.begun == entry.attempts) continue;  // a change of the message wrote it along
        add(number, changed(entry, RecordKind::attempt, Cause::none), 0, Error{});
    }
    attempts_.resize(kept);
}

void Engine::add(EntryNumber number, Record record, ReplyToken token, Reply with) {
    if (number != kNoEntry) recent_.entry(number).in_batch = true;
    batch_->add(record, number, token, std::move(with));
}

// The commit that closes a segment says from where a restart has to read: the load cursor, and for each queue a lower
// bound on what is due and unfinished. A queue's cursor that falls must be written, one that rises may be.
void Engine::add_cursors() {
    // A segment that was made larger for its first commit has no more than the room that each has at its end.
    const bool is_overfull = segment_fill_ + closing_room() > segment_bytes_;
    const std::uint64_t room = is_overfull ? closing_room() : segment_bytes_ - segment_fill_;
    auto fits = [&] {
        return batch_->count() < options_.cursor_records_max &&
               size_in_segment(batch_->bytes() + kRecordOverheadMax) <= room;
    };
    auto add_cursor = [&](const QueueName* name, DuePosition position) {
        Record cursor;
        cursor.kind = RecordKind::cursor;
        cursor.time_ms = now_;
        cursor.state.due_ms = cursor.state.nominal_due_ms = position.due_ms;
        if (name != nullptr) {
            cursor.state.name_space = name->name_space;
            cursor.state.queue = name->queue;
            cursor.id = position.id;
            cursor.removed = position == kNoBacklog;
        }
        batch_->add(cursor, kNoEntry, 0, Error{});
    };
    std::vector<std::pair<QueueNumber, DuePosition>> rising;
    bool all_falling_fit = true;
    const std::vector<DuePosition> bounds = bounds_of_lines();
    for (QueueNumber number = 0; number < queues_.size(); ++number) {
        Queue& at = *queues_[number];
        DuePosition low = std::min({at.cursor, at.reading_from.value_or(kNoBacklog), bounds[number]});
        const FiredKey* first = at.fired.top(at.ready_count + at.leased_count, [&](const FiredKey& key) {
            const Entry& entry = recent_.entry(key.entry);
            return entry.id == key.position.id && entry.due_ms == key.position.due_ms &&
                   (entry.state == State::ready || entry.state == State::leased);
        });
        if (first != nullptr) low = std::min(low, first->position);
        if (low == at.durable_cursor) continue;
        if (low > at.durable_cursor) {
            rising.emplace_back(number, low);
        } else if (fits()) {
            add_cursor(&recent_.queues().name(number), low);
        } else {
            all_falling_fit = false;
        }
    }
    const DueMs load = load_cursor();
    if (all_falling_fit && load > durable_load_cursor_ms_ && fits()) add_cursor(nullptr, {load, 0});
    for (const auto& [number, low] : rising) {
        if (!fits()) break;
        add_cursor(&recent_.queues().name(number), low);
    }
}

void Engine::hand_out(bool closes_segment) {
    Totals& totals = batch_->totals();
    totals.commit += 1;
    totals.server_time_ms = now_;
    Commit commit;
    commit.first_sequence = batch_->first_sequence();
    commit.count = static_cast<std::uint32_t>(batch_->count());
    commit.records = batch_->record_bytes();
    commit.totals = totals;
    commit.closes_segment = closes_segment;
    segment_fill_ += size_in_segment(commit.records.size());
    batch_->closes_segment = closes_segment;
    if (closes_segment) close_wanted_ = false;
    in_flight_ = true;
    confirm_at_ms_ = kNoWakeup;
    effects_.commit = std::move(commit);
    if (planted(PlantedBug::answer_before_sync)) {
        for (Operation& operation : batch_->operations()) reply(operation.token, operation.reply);
    }
}

void Engine::committed() {
    assert(in_flight_);
    const std::unique_ptr<Batch> batch = std::move(batch_);
    in_flight_ = false;
    totals_ = batch->totals();
    ++counters_.commits;
    counters_.records += batch->count();
    for (Operation& operation : batch->operations()) {
        if (operation.record.kind == RecordKind::conf) {
            apply_settings(batch->body(operation), operation);
        } else {
            apply(operation);
        }
    }
    for (Operation& operation : batch->operations()) {
        // The bytes of what is due soon are kept: whoever takes it need not wait for the disk.
        if (operation.record.kind == RecordKind::put && operation.record.state.due_ms <= loaded_until_ms_) {
            cache_.insert(operation.sequence, batch->body(operation));
        }
    }
    if (batch->closes_segment) {
        effects_.closed_segments.push_back(segment_);
        // A quick sealer may have seen on the disk that the segment is full before this was told.
        (segment_ <= taken_through_ ? to_sweep_ : unsealed_).push_back(segment_);
        ++segment_;
        segment_fill_ = kSegmentHeaderBytes;
        segment_bytes_ = options_.segment_bytes;
    }
    // A closing commit needs no confirmation: it answers nobody, and confirms the one before it.
    if (!batch->empty() && !batch->closes_segment) confirm_at_ms_ = now_ + options_.confirm_after_ms;
    build_batch();
    hand_over_held();
    if (planted(PlantedBug::answer_before_sync)) return;
    for (Operation& operation : batch->operations()) reply(operation.token, std::move(operation.reply));
}

void Engine::apply(Operation& operation) {
    const Record& record = operation.record;
    switch (record.kind) {
        case RecordKind::epoch:
            serving_ = true;
            return;
        case RecordKind::carry_done:
        case RecordKind::rule:
        case RecordKind::conf:  // apply_settings()
            return;
        case RecordKind::cursor:
            if (record.state.queue.empty()) {
                durable_load_cursor_ms_ = record.state.due_ms;
            } else {
                const QueueNumber number = recent_.queues().number(record.state.name_space, record.state.queue);
                queue(number).durable_cursor =
                    record.removed ? kNoBacklog : DuePosition{record.state.due_ms, record.id};
            }
            return;
        default:
            break;
    }
    bool keeps_live = record.kind == RecordKind::attempt || record.kind == RecordKind::carry;
    bool woken = false;
    if (operation.entry != kNoEntry) {
        Entry& entry = recent_.entry(operation.entry);
        assert(entry.id == record.id && entry.in_batch);
        entry.in_batch = false;
        woken = entry.woken;
        entry.woken = false;
        if (!keeps_live) {
            Queue& at = queue(entry.queue);
            at.counts.leave(entry.durable_state);
            at.last_segment = segment_;
            if (entry.purging && record.kind == RecordKind::end) {
                entry.purging = false;
                --at.purging;
                ++at.purged;
            }
            if (record.kind == RecordKind::end) cache_.erase(entry.place);
            leave_line(operation.entry, Leaving::changes);
            unlist(operation.entry);
        }
    } else {
        keeps_live = false;
    }
    const EntryNumber number = recent_.apply(record, operation.sequence, segment_, operation.frame_bytes);
    if (operation.entry == kNoEntry && number == kNoEntry) {  // an outcome that was carried: it names its queue
        queue(recent_.queues().number(record.state.name_space, record.state.queue)).last_segment = segment_;
    }
    switch (record.kind) {
        case RecordKind::put:
        case RecordKind::spawn:
            ++counters_.accepted;
            break;
        case RecordKind::carry:
            ++counters_.carried;
            break;
        case RecordKind::change:
            if (record.cause == Cause::rescheduled) ++counters_.rescheduled;
            if (record.cause == Cause::failed) ++counters_.failed;
            break;
        case RecordKind::end:
            if (record.state.state == State::done) ++counters_.done;
            if (record.cause == Cause::purged) {
                ++counters_.purged;
            } else if (record.state.state == State::cancelled) {
                ++counters_.cancelled;
            }
            if (record.state.state == State::expired) ++counters_.expired;
            break;
        default:
            break;
    }
    if (number != kNoEntry) {
        if (!keeps_live) {
            const Entry& entry = recent_.entry(number);
            Queue& at = queue(entry.queue);
            at.counts.enter(entry.durable_state);
            at.last_segment = segment_;
            join_line(number);
        }
        place_applied(number, keeps_live, woken);
    }
    if (record.state.order_key.empty()) return;
    const std::string line =
        line_name(recent_.queues().number(record.state.name_space, record.state.queue), record.state.order_key);
    // One that was changed without being in memory may have been the line's next.
    const bool was_on_disk = operation.entry == kNoEntry && record.previous.version != 0;
    if (was_on_disk && lines_.contains(line)) lines_.at(line).head_stands = false;
    advance_line(line);
}

// Where an entry belongs whose record has just been applied. `woken`: its moment came meanwhile.
void Engine::place_applied(EntryNumber number, bool keeps_live, bool woken) {
    const Entry& entry = recent_.entry(number);
    const bool is_live = entry.state == State::ready || entry.state == State::leased;
    if (!keeps_live || !is_live) return settle(number);
    if (woken) return wake(number);
    if (entry.state == State::ready) {  // its key may have been passed over while it was in the batch
        queue(entry.queue).ready.push({entry.priority, {entry.due_ms, entry.id}, number});
        mark(entry.queue);
    }
}

// ---- reads and their answers

std::uint64_t Engine::ask(Question question, Asked asked) {
    const std::uint64_t ticket = question.ticket = next_ticket_++;
    ++counters_.questions;
    asked_.emplace(question.ticket, std::move(asked));
    effects_.questions.push_back(std::move(question));
    return ticket;
}

void Engine::answer(Answer answer) {
    const auto found = asked_.find(answer.ticket);
    assert(found != asked_.end());
    Asked asked = std::move(found->second);
    asked_.erase(found);
    if (answer.generation != generation_.load(std::memory_order_relaxed)) ++counters_.stale_answers;
    switch (asked.what) {
        case Ask::facts:
            asked.pending->facts = std::move(std::get<std::optional<MessageRow>>(answer.what));
            asked.pending->facts_generation = answer.generation;
            if (const auto* read = std::get_if<GetCommand>(&asked.pending->command)) {
                const bool fresh = answer.generation == generation_.load(std::memory_order_relaxed);
                if (!fresh || recent_.find(read->id) != kNoEntry || recent_.outcome(read->id) != nullptr) {
                    return get(*read, asked.pending->token);
                }
                if (!*asked.pending->facts) {
                    return reply(asked.pending->token,
                                 Error{"gone", "this message ended longer ago than outcomes are kept"});
                }
                MessageRow& row = **asked.pending->facts;
                if (row.state.name_space != read->name_space) {
                    return reply(asked.pending->token, unknown_id(read->id));
                }
                row.state.maybe_delivered |= !is_ended(row.state.state) && is_from_past(row.id, row.state.due_ms);
                return answer_get(std::move(row), asked.pending->token);
            }
            looked_up_.push_back(std::move(*asked.pending));
            return;
        case Ask::key_facts:
            asked.pending->key_facts = std::move(std::get<std::vector<std::optional<KeyFacts>>>(answer.what));
            asked.pending->facts_generation = answer.generation;
            looked_up_puts_.push_back(std::move(*asked.pending));
            return;
        case Ask::due_stretch:
            return take_due_stretch(asked, std::move(std::get<Stretch>(answer.what)), answer.generation);
        case Ask::queue_stretch:
            return take_queue_stretch(asked, std::move(std::get<Stretch>(answer.what)), answer.generation);
        case Ask::purge_stretch:
            return take_purge_stretch(asked, std::get<Stretch>(answer.what), answer.generation);
        case Ask::order_stretch:
            return take_order_stretch(asked, std::get<Stretch>(answer.what), answer.generation);
        case Ask::prefetch:
            for (RecordBytes& record : std::get<std::vector<RecordBytes>>(answer.what)) {
                cache_.insert(record.place, record.body);
            }
            return;
        case Ask::listing:
            return finish_listing(std::move(*asked.listing), std::move(std::get<ListedRows>(answer.what)),
                                  answer.generation);
        case Ask::delivery:
            delivery_of_reply_.erase(asked.delivery->token);
            return finish_delivery(std::move(*asked.delivery), std::get<std::vector<RecordBytes>>(answer.what));
        case Ask::message: {
            MessageAnswer& message = asked.message->answer;
            reading_bytes_ -= message.row.record_bytes;
            for (const RecordBytes& record : std::get<std::vector<RecordBytes>>(answer.what)) {
                Result<Record> decoded = decode_record(RecordKind::carry, record.body);
                if (!decoded) {
                    effects_.broken = std::move(decoded).error();
                    return;
                }
                message.has_content = true;
                message.put_ms = decoded->content.put_ms;
                message.body = decoded->content.body;
                message.content_type = decoded->content.content_type;
                message.headers = decoded->content.headers;
                message.traceparent = decoded->content.traceparent;
            }
            return reply(asked.message->token, std::move(message));
        }
    }
}

void Engine::table_taken(SegmentNumber through) {
    taken_through_ = std::max(taken_through_, through);
    while (!unsealed_.empty() && unsealed_.front() <= through) {
        to_sweep_.push_back(unsealed_.front());
        unsealed_.pop_front();
    }
    generation_.fetch_add(1);
}

// ---- what the owner may ask

bool Engine::is_idle() const {
    const bool looks_up = std::any_of(asked_.begin(), asked_.end(), [](const auto& each) {
        return each.second.pending || each.second.delivery || each.second.message;
    });
    return looked_up_.empty() && commands_.empty() && looked_up_puts_.empty() && puts_.empty() && attempts_.empty() &&
           expiries_.empty() && !in_flight_ && !looks_up;
}

DueMs Engine::next_wakeup() const {
    if (!started_ || !to_sweep_.empty() || !wheel_.caught_up() || !listings_.empty()) return now_;
    const bool has_puts = !looked_up_puts_.empty() || !puts_.empty();
    const bool has_work = close_wanted_ || !looked_up_.empty() || !commands_.empty() || !attempts_.empty() ||
                          !expiries_.empty() || (has_puts && !puts_held_back());
    if (!in_flight_ && (has_work || purge_has_work())) return now_;
    if (walking_purge() < purges_.size()) return now_;
    const Tick wheel = wheel_.next_work();
    DueMs next = wheel >= static_cast<Tick>(kNoWakeup) ? kNoWakeup : static_cast<DueMs>(wheel);
    if (!in_flight_) next = std::min(next, confirm_at_ms_);
    if (!loading_) next = std::min(next, std::max(now_ + 1, next_load()));
    return next;
}

EngineCounters Engine::counters() const {
    EngineCounters counters = counters_;
    counters.pending = totals_.live_count;
    counters.ready = ready_count_;
    counters.leased = leases_.size();
    counters.waiters = waiters_.size();
    counters.commands_waiting = waiting_commands();
    counters.in_memory = recent_.entry_count();
    counters.unsealed_segments = unsealed_.size();
    counters.queues = queues_by_name_.size();
    counters.order_lines = lines_.size();
    counters.cached_bytes = cache_.bytes();
    counters.memory_bytes = recent_.memory_bytes() + wheel_.memory_bytes() + cache_.bytes();
    counters.puts_held_back = puts_held_back();
    counters.store_full = store_full_;
    counters.loaded_until_ms = loaded_until_ms_;
    counters.server_time_ms = now_;
    return counters;
}

void Engine::check() const {
    auto require = [](bool holds, const char* what) {
        if (holds) return;
        std::fprintf(stderr, "engine: %s\n", what);
        std::abort();
    };
    recent_.check();
    wheel_.check();
    const bool new_put_waits =
        std::any_of(puts_.begin(), puts_.end(), [](const Pending& put) { return !may_be_repeated(put.command); });
    require(!store_full_ || !new_put_waits, "a put waits though the store is full");
    std::vector<std::uint32_t> ready(queues_.size());
    std::vector<std::uint32_t> leased(queues_.size());
    check_lines();
    std::vector<std::uint64_t> purging(queues_.size());
    std::size_t expiring = 0;
    recent_.for_each_entry([&](EntryNumber number, const Entry& entry) {
        const std::optional<Tick> deadline = wheel_.deadline_of(TimerHandle{entry.timer});
        if (entry.purging) ++purging[entry.queue];
        const DueMs expires = expiry(number);
        const bool expires_on_wheel =
            expires == kNoWakeup ? !deadline.has_value() : deadline && *deadline == static_cast<Tick>(expires);
        if (entry.expiring) {
            if (!entry.in_batch) ++expiring;
            require(expires <= now_ && !deadline.has_value(), "a message expires before its time, or twice");
            require(unsettled_expiries_.contains({expires, entry.id}), "an expiry that the load cursor may pass");
            return;
        }
        switch (entry.state) {
            case State::ready:
                ++ready[entry.queue];
                require(entry.due_ms <= now_, "a message is ready before it is due");
                require(entry.in_batch || entry.purging || expires_on_wheel ||
                            planted(PlantedBug::expired_message_delivered),
                        "a ready message is not on the wheel at its expiry");
                break;
            case State::leased:
                ++leased[entry.queue];
                require(leases_.contains(entry.id), "a leased message without a lease");
                require(expires == kNoWakeup || unsettled_expiries_.contains({expires, entry.id}),
                        "the expiry of a leased message that the load cursor may pass");
                require(entry.in_batch || deadline.has_value(), "a lease without its timer");
                break;
            case State::scheduled:
            case State::retrying:
                if (!started_ || entry.in_batch || entry.purging) break;
                require(entry.blocked ? expires_on_wheel
                                      : deadline && *deadline == static_cast<Tick>(std::min(entry.due_ms, expires)),
                        "a waiting message is not on the wheel at what comes next");
                break;
            default:
                require(!started_ || entry.in_batch || expires_on_wheel, "a message that waits is not on the wheel");
                break;
        }
        require(entry.in_batch <= (batch_ != nullptr), "a message is in a batch that does not exist");
    });
    std::uint64_t pending_in_all = 0;
    require(expiring <= expiries_.size(), "a message expires whose record is not queued");
    std::size_t leased_in_all = 0;
    std::size_t ready_in_all = 0;
    for (QueueNumber number = 0; number < queues_.size(); ++number) {
        require(queues_[number]->ready_count == ready[number], "a queue's count of ready messages is off");
        require(queues_[number]->leased_count == leased[number], "a queue's count of leased messages is off");
        require(queues_[number]->purging == purging[number], "a queue's count of messages to purge is off");
        pending_in_all += queues_[number]->counts.pending;
        leased_in_all += leased[number];
        ready_in_all += ready[number];
    }
    require(pending_in_all == totals_.live_count, "the queues do not hold as many messages as the log says");
    require(leases_.size() == leased_in_all, "a lease without its message");
    require(ready_count_ == ready_in_all, "the count of ready messages is off");
}

}  // namespace duewheel

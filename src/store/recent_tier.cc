#include "store/recent_tier.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "base/invariant.h"
#include "base/overloaded.h"
#include "message/records/outcome_rows.h"
#include "message/records/subject.h"

namespace duewheel {

EntryNumber RecentTier::find(MessageId id) const {
    const EntryNumber* found = by_id_.find(id);
    return found == nullptr ? kNoEntry : *found;
}

const Outcome* RecentTier::outcome(MessageId id) const {
    return outcomes_.find(id);
}

const RecentKey* RecentTier::key_holder(QueueNumber queue, std::string_view key) const {
    if (keys_.empty()) return nullptr;
    const auto found = keys_.find(joined_key(queue, key));
    return found == keys_.end() ? nullptr : &found->second;
}

MessageState RecentTier::durable_state(const Entry& entry) const {
    MessageState state;
    state.state = entry.durable_state;
    copy_progress(entry, state);
    const QueueName& name = queues_.name(entry.queue);
    state.name_space = name.name_space;
    state.queue = name.queue;
    const EntryNumber number = find(entry.id);
    if (entry.has_rare) static_cast<RareState&>(state) = rare_.at(number);
    state.group = groups_[group_of(number)].group;
    return state;
}

MessageRow RecentTier::row(MessageId id, const Outcome& outcome) const {
    MessageRow row;
    row.id = id;
    copy_end(outcome, row);
    row.state.state = outcome.state;
    row.state.version = outcome.version;
    row.state.attempts = outcome.attempts;
    row.state.transaction = outcome.transaction;
    row.state.work = outcome.work;
    row.state.maybe_delivered = outcome.maybe_delivered;
    row.state.due_ms = row.state.nominal_due_ms = outcome.due_ms;
    const QueueName& name = queues_.name(outcome.queue);
    row.state.name_space = name.name_space;
    row.state.queue = name.queue;
    return row;
}

MessageRow RecentTier::row(const Entry& entry) const {
    MessageRow row;
    row.id = entry.id;
    row.log_position = entry.log_position;
    row.record_bytes = entry.record_bytes;
    row.state = durable_state(entry);
    row.reason = reason(entry);
    if (entry.durable_state == State::dead) copy_end(rare_.at(find(entry.id)), row);
    return row;
}

std::string_view RecentTier::reason(const Entry& entry) const {
    return entry.has_rare ? std::string_view(rare_.at(find(entry.id)).reason) : std::string_view();
}

std::string_view RecentTier::key(const Entry& entry) const {
    return entry.has_rare ? std::string_view(rare_.at(find(entry.id)).key) : std::string_view();
}

DueMs RecentTier::expires_ms(EntryNumber number) const {
    return entries_[number].has_rare ? rare_.at(number).expires_ms : 0;
}

std::string_view RecentTier::order_key(EntryNumber number) const {
    return entries_[number].has_rare ? std::string_view(rare_.at(number).order_key) : std::string_view();
}

const RetryRule* RecentTier::retry_rule(const Entry& entry) const {
    if (!entry.has_rare) return nullptr;
    const std::optional<RetryRule>& rule = rare_.at(find(entry.id)).retry;
    return rule ? &*rule : nullptr;
}

std::uint32_t RecentTier::attempts_forgiven(const Entry& entry) const {
    return entry.has_rare ? rare_.at(find(entry.id)).attempts_forgiven : 0;
}

bool RecentTier::is_recurring(const Entry& entry) const {
    return entry.has_rare && rare_.at(find(entry.id)).is_recurring();
}

std::uint32_t RecentTier::transaction(const Entry& entry) const {
    return entry.has_rare ? rare_.at(find(entry.id)).transaction : 0;
}

DueMs RecentTier::first_put_ms(const Entry& entry) const {
    return entry.has_rare ? rare_.at(find(entry.id)).first_put_ms : 0;
}

const WorkState& RecentTier::work(const Entry& entry) const {
    static const WorkState kNone;
    return entry.has_rare ? *rare_.at(find(entry.id)).work : kNone;
}

std::size_t RecentTier::work_bytes_max(const Entry& entry) const {
    if (!entry.has_rare) return 0;
    const Boxed<WorkState>& work = rare_.at(find(entry.id)).work;
    return work.is_set() ? work->bytes_max() : 0;
}

DueMs RecentTier::ended_ms(const Entry& entry) const {
    return entry.has_rare ? rare_.at(find(entry.id)).ended_ms : 0;
}

EntryNumber RecentTier::first_dead(QueueNumber queue, DueMs from_ms, MessageId from_id) const {
    const auto first = dead_.lower_bound({queue, from_ms, from_id});
    return first == dead_.end() || std::get<0>(*first) != queue ? kNoEntry : find(std::get<2>(*first));
}

void RecentTier::apply(const Record& record, Sequence sequence, SegmentNumber segment, std::uint32_t frame_bytes) {
    std::visit(
        Overloaded{[&](const MessageRecord& of) { apply(of, sequence, segment, frame_bytes); }, [](const auto&) {}},
        record);
}

EntryNumber RecentTier::apply(const MessageRecord& record, Sequence sequence, SegmentNumber segment,
                              std::uint32_t frame_bytes) {
    if (record.kind == RecordKind::end) {
        ends_[segment].push_back({ended_row(record), queues_.number(record.state.name_space, record.state.queue)});
    }
    if (is_ended(record.state.state) && record.state.state != State::dead) {
        end(record, segment);
        return kNoEntry;
    }
    const bool whole = is_whole(record.kind);
    EntryNumber number = find(record.id);
    const bool known = number != kNoEntry;
    if (!known) number = take_slot(record.id);
    Entry& entry = entries_[number];
    Death death;
    if (record.state.state == State::dead) {
        death = {ended_at(record), record.lease_attempt, record.lease_incarnation, record.reason};
    } else if (record.state.state == State::retrying) {
        death.reason = record.reason;
    }
    set_state(entry, number, record.state, death);
    count_due(record, entry.queue, segment);
    entry.log_position = whole ? sequence : record.log_position;
    entry.record_bytes = whole ? frame_bytes : record.record_bytes;
    entry.segment = segment;
    const bool keeps_live = known && (record.kind == RecordKind::attempt || record.kind == RecordKind::relocate);
    if (keeps_live) {
        entry.begun = std::max(entry.begun, entry.attempts);  // in a replay there is no earlier count
    } else {
        entry.waits_for = WaitsFor::none;
        entry.begun = entry.attempts;
    }
    touch(record.id, segment);
    if (entry.has_rare) hold_key(record, record.kind == RecordKind::end ? record.time_ms : record.ended_ms);
    return number;
}

void RecentTier::end(const MessageRecord& record, SegmentNumber segment) {
    Outcome outcome;
    outcome.state = record.state.state;
    outcome.maybe_delivered = record.state.maybe_delivered;
    outcome.version = record.state.version;
    outcome.attempts = record.state.attempts;
    outcome.transaction = record.state.transaction;
    outcome.work = record.state.work;
    outcome.lease_attempt = record.lease_attempt;
    outcome.lease_incarnation = record.lease_incarnation;
    outcome.ended_ms = ended_at(record);
    const bool was_prepared = record.state.transaction >= MessageState::kOpen;
    outcome.due_ms = was_prepared ? record.state.nominal_due_ms : record.state.due_ms;
    outcome.queue = queues_.number(record.state.name_space, record.state.queue);
    outcome.segment = segment;
    count_due(record, outcome.queue, segment);
    hold_key(record, outcome.ended_ms);
    if (!record.state.key.empty()) key_of_outcome_[record.id] = joined_key(outcome.queue, record.state.key);
    if (const EntryNumber number = find(record.id); number != kNoEntry) free_slot(number);
    outcomes_.set(record.id, outcome);
    touch(record.id, segment);
}

// `queue`: that of the state of the record.
void RecentTier::count_due(const MessageRecord& record, QueueNumber queue, SegmentNumber segment) {
    if (!changes_state(record.kind)) return;
    const MessageState& state = record.state;
    const Previous& before = record.previous;
    DueChanges& changes = due_changes_[segment];
    if (before.version != 0) {
        const QueueNumber left = before.queue == state.queue ? queue : queues_.number(state.name_space, before.queue);
        changes.leave(left, before.due_ms, before.state, state.is_recurring());  // it is that for life
    }
    changes.enter(queue, state.due_ms, state.state, state.is_recurring());
}

EntryNumber RecentTier::admit(const MessageRow& row) {
    assert(find(row.id) == kNoEntry && outcome(row.id) == nullptr);
    assert(!is_ended(row.state.state) || row.state.state == State::dead);
    const EntryNumber number = take_slot(row.id);
    Entry& entry = entries_[number];
    set_state(entry, number, row.state, {row.ended_ms, row.lease_attempt, row.lease_incarnation, row.reason});
    entry.begun = entry.attempts;
    entry.log_position = row.log_position;
    entry.record_bytes = row.record_bytes;
    return number;
}

void RecentTier::drop(EntryNumber number) {
    assert(entries_[number].segment == 0 && !entries_[number].in_batch);
    free_slot(number);
}

bool RecentTier::sweep(SegmentNumber segment, std::size_t budget, const std::function<void(EntryNumber)>& offer) {
    const auto found = touched_.find(segment);
    if (found == touched_.end()) return true;
    Touched& touched = found->second;
    for (; touched.swept < touched.ids.size(); ++touched.swept) {
        if (budget-- == 0) return false;
        const MessageId id = touched.ids[touched.swept];
        if (const Outcome* ended = outcomes_.find(id); ended != nullptr && ended->segment == segment) {
            if (const auto key = key_of_outcome_.find(id); key != key_of_outcome_.end()) {
                if (const auto held = keys_.find(key->second); held != keys_.end() && held->second.id == id) {
                    keys_.erase(held);
                }
                key_of_outcome_.erase(key);
            }
            outcomes_.erase(id);
        }
        const EntryNumber number = find(id);
        if (number == kNoEntry || entries_[number].segment != segment) continue;
        Entry& entry = entries_[number];
        entry.segment = 0;
        if (entry.has_rare && !rare_.at(number).key.empty()) {
            const auto held = keys_.find(joined_key(entry.queue, rare_.at(number).key));
            if (held != keys_.end() && held->second.id == id) keys_.erase(held);
        }
        offer(number);
    }
    touched_.erase(found);
    ends_.erase(segment);
    due_changes_.erase(segment);
    return true;
}

void RecentTier::for_each_entry(const std::function<void(EntryNumber, const Entry&)>& visit) const {
    for (EntryNumber number = 0; number < entries_.size(); ++number) {
        if (entries_[number].id != 0) visit(number, entries_[number]);
    }
}

EntryNumber RecentTier::take_slot(MessageId id) {
    EntryNumber number;
    if (free_.empty()) {
        number = static_cast<EntryNumber>(entries_.size());
        entries_.grow_to(number + 1);
    } else {
        number = free_.back();
        free_.pop_back();
    }
    if (number / kBlock == used_.size()) used_.push_back(0);
    ++used_[number / kBlock];
    entries_[number] = Entry{};
    entries_[number].id = id;
    by_id_.set(id, number);
    return number;
}

void RecentTier::free_slot(EntryNumber number) {
    Entry& entry = entries_[number];
    forget_death(entry, number);
    by_id_.erase(entry.id);
    if (entry.has_rare) rare_.erase(number);
    set_group(number, entry.queue, {});
    entry = Entry{};
    --used_[number / kBlock];
    free_.push_back(number);
}

void RecentTier::set_state(Entry& entry, EntryNumber number, const MessageState& state, const Death& death) {
    forget_death(entry, number);
    entry.durable_state = state.state;
    copy_progress(state, entry);
    entry.queue = queues_.number(state.name_space, state.queue);
    set_group(number, entry.queue, state.group);
    set_rare(entry, number, state, death);
    if (state.state == State::dead) dead_.emplace(entry.queue, death.ended_ms, entry.id);
}

void RecentTier::set_group(EntryNumber number, QueueNumber queue, std::string_view group) {
    const GroupNumber before = group_of(number);
    if (group.empty() && before == kNoGroup) return;
    if (number >= group_of_.size()) group_of_.resize(entries_.size());
    group_of_[number] = group.empty() ? kNoGroup : groups_.use(queue, group);
    groups_.release(before);
}

void RecentTier::set_rare(Entry& entry, EntryNumber number, const MessageState& state, const Death& death) {
    const bool needed = state.has_any() || state.state == State::dead || !death.reason.empty();
    if (needed) {
        Rare& rare = rare_[number];
        static_cast<RareState&>(rare) = state;
        copy_end(death, rare);
        rare.reason = death.reason;
    } else if (entry.has_rare) {
        rare_.erase(number);
    }
    entry.has_rare = needed;
}

void RecentTier::forget_death(const Entry& entry, EntryNumber number) {
    if (entry.durable_state == State::dead) dead_.erase({entry.queue, rare_.at(number).ended_ms, entry.id});
}

// An ended message may have lost its key to a newer one since; a relocation or a redrive does not take the key back.
void RecentTier::hold_key(const MessageRecord& record, DueMs ended_ms) {
    const MessageState& state = record.state;
    if (state.key.empty()) return;
    const QueueNumber queue = queues_.number(state.name_space, state.queue);
    RecentKey& held = keys_[joined_key(queue, state.key)];
    if (held.id > record.id) return;
    const bool is_put = is_new(record.kind);
    const DueMs due_ms = state.first_due_ms != 0 ? state.first_due_ms : state.nominal_due_ms;
    held = {record.id, state.request_hash, due_ms, ended_ms, is_put || (held.is_put_here && held.id == record.id)};
}

std::string RecentTier::joined_key(QueueNumber queue, std::string_view key) {
    std::string joined(sizeof queue, '\0');
    std::memcpy(joined.data(), &queue, sizeof queue);
    return joined.append(key);
}

void RecentTier::touch(MessageId id, SegmentNumber segment) {
    std::vector<MessageId>& ids = touched_[segment].ids;
    if (ids.empty() || ids.back() != id) ids.push_back(id);
}

void RecentTier::check() const {
    std::size_t used = 0;
    std::size_t rare = 0;
    std::size_t dead = 0;
    std::vector<std::uint8_t> in_block(used_.size());
    for (EntryNumber number = 0; number < entries_.size(); ++number) {
        const Entry& entry = entries_[number];
        if (entry.id == 0) continue;
        ++used;
        ++in_block[number / kBlock];
        rare += entry.has_rare ? 1 : 0;
        if (entry.durable_state == State::dead) {
            ++dead;
            require(dead_.contains({entry.queue, ended_ms(entry), entry.id}),
                    "a dead letter that is not in the list of its queue");
        }
        const GroupNumber group = group_of(number);
        require(group == kNoGroup || groups_[group].queue == entry.queue, "a group of another queue than its message");
        require(find(entry.id) == number, "an entry is not found by its id");
        require(!outcomes_.contains(entry.id), "a message is unfinished and ended at once");
        require(entry.queue < queues_.size(), "an entry without a queue");
        require(entry.begun >= entry.attempts, "more attempts are durable than have begun");
        require(is_durable(entry.durable_state), "a durable state that is not");
        require(entry.segment == 0 || touched_.contains(entry.segment), "a dirty entry that no sweep will reach");
    }
    require(in_block == used_, "a block's count of entries in use is off");
    require(used == by_id_.size(), "ids and entries differ in number");
    require(rare == rare_.size(), "a side-table row without its entry");
    require(dead == dead_.size(), "a dead letter without its entry");
    require(used + free_.size() == entries_.size(), "an entry is neither used nor free");
    outcomes_.for_each([this](MessageId, const Outcome& outcome) {
        require(touched_.contains(outcome.segment), "an outcome that no sweep will reach");
    });
}

std::size_t RecentTier::memory_bytes() const {
    std::size_t bytes = entries_.capacity() * sizeof(Entry) + free_.capacity() * sizeof(EntryNumber);
    bytes += group_of_.capacity() * sizeof(GroupNumber) + groups_.size() * sizeof(GroupName);
    bytes += by_id_.bytes() + outcomes_.bytes();
    for (const auto& [segment, touched] : touched_) bytes += touched.ids.capacity() * sizeof(MessageId);
    for (const auto& [segment, ends] : ends_) bytes += ends.capacity() * sizeof(EndInQueue);
    for (const auto& [segment, changes] : due_changes_) bytes += changes.bytes();
    return bytes;
}

}  // namespace duewheel

// The sum of the records of one segment: for each message in them, its state before the first and after the last
// record; the cursors they set; and how far they say that the log was relocated.
//
// It follows from the records alone, in order, and depends neither on the index nor on the memory of the engine: the
// same segment gives the same effect today, after a crash and in a rebuild. What depends on the index as well (changing
// needed counts, lowering cursors) is done by the sealer.
//
// Worked example: a segment contains put(7, due 100), change(7, due 100 -> 200), end(9). Message 7 was created here, so
// it had no state before; after it, 7 is scheduled at 200. For 9, which was put earlier, the end record says that it
// was scheduled at 50 with its whole record at position 1234: its rows at 50 are erased, and that record is no longer
// needed.
//
// A segment of 32 MiB contains some 125,000 messages, so an effect is small and its texts are numbers. Single-threaded.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "message/records/record.h"
#include "store/group_names.h"
#include "store/history.h"
#include "store/queue_names.h"
#include "store/store.h"

namespace duewheel {

// Fields that few messages have.
struct RareFields : RareState {
    std::string reason;  // of a dead letter, and of a message in backoff
};

// Rows that older tables may contain of a message. They are erased unless they are put again; missing rows are fine.
struct StoodBefore {
    DueMs due_ms = 0;
    DueMs nominal_due_ms = 0;
    Sequence log_position = 0;     // of the whole record that was needed; 0: none, or unknown
    QueueNumber queue = kNoQueue;  // kNoQueue: it did not exist
    GroupNumber group = kNoGroup;  // if it was unfinished
    State state = State::scheduled;
    DueMs ended_ms = 0;              // if it was a dead letter
    DueMs expires_ms = 0;            // if it was unfinished
    bool position_unknown = false;   // the first record is a relocation, which does not contain the previous position
    Boxed<std::string> order_key{};  // if it was unfinished
};

struct MessageEffect {
    MessageId id = 0;
    StoodBefore before;
    // As of the last record.
    Sequence log_position = 0;  // of the whole record; 0 if it needs none
    DueMs due_ms = 0;
    DueMs nominal_due_ms = 0;
    DueMs ended_ms = 0;
    DueMs decided_ms = 0;  // server time of the commit with the last record
    std::uint64_t lease_incarnation = 0;
    std::uint32_t lease_attempt = 0;
    std::uint32_t record_bytes = 0;
    std::uint32_t version = 0;
    std::uint32_t attempts = 0;
    std::uint32_t rare = 0;  // index in rare(); 0: none of those fields
    QueueNumber queue = 0;
    GroupNumber group = kNoGroup;
    std::int32_t priority = 0;
    State state = State::scheduled;
    bool maybe_delivered = false;
};

// Unfinished, or a dead letter: its whole record must stay in the log.
inline bool needs_record(State state) {
    return !is_ended(state) || state == State::dead;
}

struct QueueCursorRecord {
    QueueNumber queue = 0;
    DuePosition at;
    bool removed = false;
};

// The settings of a queue or a namespace as of the last `conf` record of the segment, or a schedule or a watchdog as of
// the last `rule` record. Each `conf` record is whole.
struct RuleEffect {
    QueueName name;                // its namespace and its name
    Sequence position_before = 0;  // of the whole record before the segment; 0: none
    Sequence log_position = 0;     // of the newest whole record
    std::uint32_t record_bytes = 0;
    std::string value;  // empty: removed
};

class SegmentEffect {
  public:
    // `records`: the maximum number of records; memory is reserved for it, and used only for the messages among them.
    explicit SegmentEffect(std::size_t records);

    // Adds the next record of the segment. `frame_bytes` is its size with its frame, `server_time_ms` that of the
    // footer of its commit. Average O(1).
    void add(const Record& record, Sequence sequence, std::size_t frame_bytes, DueMs server_time_ms);
    // The same for a record of a message. The rows of an unknown outcome record are added one by one, as relocations.
    void add(const MessageRecord& record, Sequence sequence, std::size_t frame_bytes, DueMs server_time_ms);

    const std::vector<MessageEffect>& messages() const { return messages_; }
    const RareFields& rare(const MessageEffect& message) const { return rare_[message.rare]; }
    bool touches(MessageId id) const { return by_id_.contains(id); }
    const QueueNames& queues() const { return queues_; }
    const GroupNames& groups() const { return groups_; }
    // Gives the queue a number if it has none yet.
    QueueNumber queue_number(const std::string& name_space, const std::string& queue);
    // In the order of the log; a later one of the same queue replaces an earlier one.
    const std::vector<QueueCursorRecord>& queue_cursors() const { return queue_cursors_; }
    // By the keys of their rows.
    const std::map<std::string, RuleEffect>& settings() const { return settings_; }
    const std::map<std::string, RuleEffect>& rules() const { return rules_; }
    // In the order of the log, which is that of time. A redriven message can be in it twice.
    const std::vector<EndInQueue>& ends() const { return ends_; }
    // The size in the log of end records that outcomes need: of all except dead letters.
    std::uint64_t outcome_bytes() const { return outcome_bytes_; }
    DueMs load_cursor_ms() const { return load_cursor_ms_; }       // the greatest; 0: the segment sets none
    Sequence relocated_up_to() const { return relocated_up_to_; }  // of its relocation-done records; 0: none
    // The same for its outcome records.
    Sequence outcomes_relocated_up_to() const { return outcomes_relocated_up_to_; }

    // The row of the message as of the end of the segment; replaces `row`.
    void fill_row(const MessageEffect& message, MessageRow& row) const;

  private:
    void begin(MessageEffect& effect, const MessageRecord& record);
    GroupNumber group_number(QueueNumber queue, const std::string& group) {
        return group.empty() ? kNoGroup : groups_.use(queue, group);
    }
    void set_state(MessageEffect& effect, const MessageRecord& record);
    void set_record(MessageEffect& effect, const MessageRecord& record, Sequence sequence, std::size_t frame_bytes);
    void add_cursor(const CursorRecord& record);
    template <class Of>
    void add_rule(std::map<std::string, RuleEffect>& to, const Of& record, Sequence sequence, std::size_t frame_bytes);

    std::vector<MessageEffect> messages_;
    boost::unordered_flat_map<MessageId, std::uint32_t> by_id_;
    std::vector<RareFields> rare_{1};
    QueueNames queues_;
    GroupNames groups_;
    QueueNumber last_queue_ = kNoQueue;  // most records have the same queue as the previous one
    std::vector<QueueCursorRecord> queue_cursors_;
    std::map<std::string, RuleEffect> settings_;
    std::map<std::string, RuleEffect> rules_;
    std::vector<EndInQueue> ends_;
    std::uint64_t outcome_bytes_ = 0;
    DueMs load_cursor_ms_ = 0;
    Sequence relocated_up_to_ = 0;
    Sequence outcomes_relocated_up_to_ = 0;
};

}  // namespace duewheel

// A batch while it is built and while it is in flight: its encoded records, and their effects once they are
// durable.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/overloaded.h"
#include "engine/commands/command.h"
#include "journal/journal.h"
#include "message/records/record.h"
#include "store/store.h"

namespace duewheel {

// One record of a batch and its effect.
struct Operation {
    template <class T>
    requires std::constructible_from<Record, T>
    explicit Operation(T&& of) : record(std::forward<T>(of)) {}

    Record record;  // its views are empty: the bytes are in the commit
    Sequence sequence = 0;
    std::uint32_t frame_bytes = 0;
    std::size_t offset = 0;  // of the frame in the bytes of the batch
    std::string name;        // of the record, if it is one of settings or of a rule
    std::uint64_t rule = 0;  // its number, if the record is of a rule
    std::string reason;      // of the record
    EntryNumber entry = kNoEntry;
    ReplyToken token = 0;
    Reply reply;
};

// Identifies an idempotency key across namespaces and queues; names cannot contain a zero.
inline std::string key_name(std::string_view name_space, std::string_view queue, std::string_view key) {
    std::string name;
    name.reserve(name_space.size() + queue.size() + key.size() + 2);
    return name.append(name_space).append(1, '\0').append(queue).append(1, '\0').append(key);
}

class Batch {
  public:
    // Starts a new batch after these totals. Memory of a batch of ordinary size is reused: freeing and allocating it
    // for each batch would cost more than the batch itself.
    void begin(const Totals& before) {
        if (operations_.capacity() > kKeptOperations) operations_ = {};
        if (bytes_.capacity() > kKeptBytes) bytes_ = {};
        operations_.clear();
        bytes_.clear();
        keys.clear();
        closes_segment = false;
        answered_ = 0;
        totals_ = before;
        first_sequence_ = before.sequence + 1;
    }

    // Encodes the record, adds it to the totals, and stores its effect. Returns its sequence.
    template <class OneRecord>
    Sequence add(OneRecord&& record, EntryNumber entry, ReplyToken token, Reply&& reply) {
        Operation& operation = operations_.emplace_back(std::forward<OneRecord>(record));
        operation.sequence = ++totals_.sequence;
        operation.offset = bytes_.size();
        operation.frame_bytes = static_cast<std::uint32_t>(append_record(bytes_, operation.sequence, operation.record));
        add_to_totals(totals_, operation.record, operation.frame_bytes);
        own_texts(operation);
        operation.entry = entry;
        if (token != 0) answer_with_last(token, std::move(reply));
        return operation.sequence;
    }

    // For a command with several records, of which none has a token: when the last one is durable.
    void answer_with_last(ReplyToken token, Reply&& reply) {
        operations_.back().token = token;
        operations_.back().reply = std::move(reply);
        ++answered_;
    }

    bool empty() const { return operations_.empty(); }
    std::size_t count() const { return operations_.size(); }
    // Commands that are answered when it is durable.
    std::size_t answered() const { return answered_; }
    std::size_t bytes() const { return bytes_.size(); }
    Sequence next_sequence() const { return totals_.sequence + 1; }
    std::vector<Operation>& operations() { return operations_; }
    const std::vector<Operation>& operations() const { return operations_; }
    const Totals& totals() const { return totals_; }
    Totals& totals() { return totals_; }
    Sequence first_sequence() const { return first_sequence_; }
    // Its commit has them while it is in flight.
    std::string& record_bytes() { return bytes_; }
    // The body of an operation's record, for the record cache.
    std::string_view body(const Operation& operation) const {
        return std::string_view(bytes_).substr(operation.offset + kRecordFrameBytes,
                                               operation.frame_bytes - kRecordFrameBytes);
    }

    // Idempotency keys of puts in this batch that are not applied yet, as spelled by key_name().
    std::unordered_set<std::string> keys;
    bool closes_segment = false;

  private:
    // The bytes that the record's views point to need not outlive this call.
    static void own_texts(Operation& operation) {
        std::visit(Overloaded{[&](MessageRecord& record) {
                                  operation.reason = record.reason;
                                  record.reason = {};
                                  record.content = MessageContent{.put_ms = record.content.put_ms};
                              },
                              [&](ConfRecord& record) {
                                  operation.name = record.name;
                                  record.name = record.value = {};
                              },
                              [&](RuleRecord& record) {
                                  operation.name = record.name;
                                  record.name = record.value = {};
                                  record.content = MessageContent{.put_ms = record.content.put_ms};
                              },
                              [](OutcomesRecord& record) { record.rows = {}; }, [](auto&) {}},
                   operation.record);
    }

    static constexpr std::size_t kKeptOperations = 2048;
    static constexpr std::size_t kKeptBytes = std::size_t{1} << 20;

    std::size_t answered_ = 0;
    Totals totals_;
    Sequence first_sequence_ = 1;
    std::string bytes_;
    std::vector<Operation> operations_;
};

}  // namespace duewheel

// Writes records to the batch in construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/core/batch_pipeline.h"
#include "engine/core/uses.h"
#include "message/records/subject.h"

namespace duewheel {

// The newest record of settings, of a token, or of the position of an input.
struct StoredConf {
    Sequence log_position = 0;
    std::uint32_t record_bytes = 0;
    std::uint64_t revision = 0;
    std::string value;
};

class BatchWriter {
  public:
    using Own = Uses<EngineOptions, RecentTier, ServerTime, EngineCounters, BatchPipeline, OpenSegment, EarlierRuns,
                     Leases, Effects>;
    explicit BatchWriter(const Own& uses) : uses_(uses) {}

    Batch& batch() { return uses_.batches_.batch(); }
    const Batch& batch() const { return uses_.batches_.batch(); }
    // Whether it may grow by `bytes`. A fresh segment takes a first commit of any size.
    bool has_room(std::size_t bytes) const;
    // The most that a record of this message has of the work on it, if it adds nothing.
    std::size_t work_bytes_max(const Entry& entry) const;
    // The maximum size of a record of this message that adds nothing.
    std::size_t change_bytes_max(const Entry& entry) const;
    // The same; of one without an entry, it has nothing to add to.
    std::size_t change_bytes_max(MessageId id) const;
    // True if there is no space for the record of the command: it was answered with the error.
    bool refuse_for_space(const PendingCommand& pending, Adds what) const;
    // The entry, if there is one, is in the batch from now on. A record of its message also has its holder, or the
    // attempt that it ends.
    void add(EntryNumber number, MessageRecord&& record, ReplyToken token, Reply&& with);
    void add(EntryNumber number, Record&& record, ReplyToken token, Reply&& with);
    // A record with the next version of the message; the caller sets the members that change.
    MessageRecord changed(const Entry& entry, RecordKind kind, Cause cause) const;
    // The same of a message whose record is the last operation of the batch, with this number: the commit has both.
    MessageRecord changed_again(std::size_t operation, RecordKind kind) const;
    // A record of settings, of a token, or of the position of an input, in place of `before`.
    void add_conf(Subject subject, std::string_view name_space, std::string_view name, std::string_view value,
                  const std::optional<StoredConf>& before, ReplyToken token, Reply with);
    // The id of its next message.
    MessageId next_id() const;

  private:
    static Previous previous_of(MessageId id, const MessageState& state);
    void add_attempts(const Entry& entry, MessageRecord& record) const;

    Own uses_;
};
template <>
struct Use<BatchWriter> : BatchWriter {
    using BatchWriter::BatchWriter;
};

}  // namespace duewheel

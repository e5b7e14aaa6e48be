// Inputs: puts that come from a sequence of records outside of the server, such as a partition of a Kafka topic.
//
// The position of an input, the offset of the next record to take, is a `conf` record in the same commit as the puts
// before it. After a crash both are there or neither is, so a reader that begins at the position takes each record
// exactly once. Records that are no puts, such as cancels, are executed first and passed by a command without puts.
//
// If a put is refused, those before it are taken, and the position is the offset of its record. The reader repeats it
// later, or writes the record elsewhere and takes the ones after it: none is skipped without a trace.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/batch_writer.h"
#include "engine/puts/input_table.h"
#include "engine/puts/puts.h"

namespace duewheel {

class Inputs : Uses<EngineCounters, OpenSegment, Effects, BatchWriter> {
  public:
    static constexpr bool owns(Subject subject) { return subject == Subject::input; }

    Inputs(const Uses& uses, Puts& puts, const std::vector<InputPosition>& stored) : Uses(uses), puts_(puts) {
        for (const InputPosition& position : stored) table_.set(position);
    }

    Verdict decide(PendingCommand& pending, TakeRecordsCommand& command);
    // Compaction writes it again, unchanged.
    Verdict decide(PendingCommand& pending, const RelocateSettingsCommand& command);
    void apply(const Operation& operation, const ConfRecord& record);

    const InputTable& table() const { return table_; }

  private:
    void add_position(const std::string& input, std::int64_t offset, ReplyToken token, Reply with);

    Puts& puts_;
    InputTable table_;
};

}  // namespace duewheel

// Inputs: puts that come from a sequence of records outside of the server, such as a partition of a Kafka topic.
//
// The position of an input, the offset of the next record to take, is a `conf` record in the same commit as the puts
// before it. After a crash both are there or neither is, so a reader that begins at the position takes each record
// exactly once. Records that are no puts, such as cancels, are executed first and passed by a command without puts.
//
// If a put is refused, those before it are taken, and the position is the offset of its record. The reader repeats it
// later, or writes the record elsewhere and takes the ones after it: none is skipped without a trace.
#include <cassert>
#include <utility>

#include "engine/command_size.h"
#include "engine/engine.h"
#include "message/queue_settings.h"

namespace duewheel {

Verdict Engine::take_records(PendingCommand& pending, TakeRecordsCommand& command) {
    assert(command.puts.size() == command.offsets.size());
    if (inputs_.in_batch.contains(command.input)) return Verdict::deferred;
    // Its position alone would make the log longer.
    if (segment_.refuses_puts()) {
        counters_.refused_full += record_count(pending.command);
        return replied(pending, store_full());
    }
    const InputPosition* current = inputs_.find(command.input);
    TakeRecordsAnswer answer;
    if (current != nullptr) answer.position = current->offset;
    if (answer.position != command.position) {
        return replied(pending, Error{"position_moved",
                                      "the next record of input `" + command.input + "` has offset " +
                                          std::to_string(answer.position) + ", and the reader expected " +
                                          std::to_string(command.position) +
                                          ": two readers use this input; stop one of them, then restart the server"});
    }
    std::vector<std::optional<KeyFacts>> holders;
    if (const auto verdict = look_up_keys(pending, command.puts, holders)) return *verdict;
    if (const auto verdict = seconds_.find_all(pending, command.puts, holders)) return *verdict;
    HeldKeys held_here;
    for (std::size_t i = 0; i < command.puts.size() && !answer.refused; ++i) {
        PutResult result = put_one_of(command.puts[i], holders[i], held_here);
        if (auto* error = std::get_if<Error>(&result)) {
            answer.refused = std::move(*error);
        } else {
            ++answer.taken;
        }
    }
    if (answer.refused && answer.taken == 0) return replied(pending, std::move(answer));
    answer.position = answer.refused ? command.offsets[answer.taken] : command.next;
    add_input(command.input, answer.position, pending.token, std::move(answer));
    return Verdict::settled;
}

Verdict Engine::relocate_input(PendingCommand& pending, const RelocateSettingsCommand& command) {
    if (inputs_.in_batch.contains(command.queue)) return Verdict::deferred;
    const InputPosition* stored = inputs_.find(command.queue);
    if (stored == nullptr || stored->log_position != command.log_position) return replied(pending, RelocateAnswer{});
    add_input(command.queue, stored->offset, pending.token, RelocateAnswer{true, batch().next_sequence()});
    return Verdict::settled;
}

void Engine::add_input(const std::string& input, std::int64_t offset, ReplyToken token, Reply with) {
    std::optional<StoredConf> before;
    if (const InputPosition* stored = inputs_.find(input)) {
        before = {stored->log_position, stored->record_bytes, 1, encode_input_position(stored->offset)};
    }
    inputs_.in_batch.insert(input);
    add_conf(kSubjectInput, kDefaultNamespace, input, encode_input_position(offset), before, token, std::move(with));
}

void Engine::apply_input(std::string_view record_body, const Operation& operation) {
    const Result<Record> record = decode_record(RecordKind::conf, record_body);
    const Result<std::int64_t> offset = record ? decode_input_position(record->value) : record.error();
    if (!offset) {
        effects_.fatal_error = offset.error();
        return;
    }
    const std::string name(record->name);
    inputs_.in_batch.erase(name);
    inputs_.set({name, *offset, operation.sequence, operation.frame_bytes});
}

}  // namespace duewheel

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

Engine::Verdict Engine::take_records(PendingCommand& pending, TakeRecordsCommand& command) {
    assert(command.puts.size() == command.offsets.size());
    if (inputs_.in_batch.contains(command.input)) return Verdict::deferred;
    // Its position alone would make the log longer.
    if (segment_.refuses_puts()) {
        counters_.refused_full += record_count(pending.command);
        return reply(pending.token, store_full()), Verdict::settled;
    }
    const InputPosition* current = inputs_.find(command.input);
    TakeRecordsAnswer answer;
    if (current != nullptr) answer.position = current->offset;
    if (answer.position != command.position) {
        reply(pending.token,
              Error{"position_moved", "the next record of input `" + command.input + "` has offset " +
                                          std::to_string(answer.position) + ", and the reader expected " +
                                          std::to_string(command.position) +
                                          ": two readers use this input; stop one of them, then restart the server"});
        return Verdict::settled;
    }
    std::vector<std::optional<KeyFacts>> holders;
    if (const auto verdict = look_up_keys(pending, command.puts, holders)) return *verdict;
    if (const auto verdict = find_seconds(pending, command.puts, holders)) return *verdict;
    HeldKeys held_here;
    for (std::size_t i = 0; i < command.puts.size() && !answer.refused; ++i) {
        PutResult result = put_one_of(command.puts[i], holders[i], held_here);
        if (auto* error = std::get_if<Error>(&result)) {
            answer.refused = std::move(*error);
        } else {
            ++answer.taken;
        }
    }
    if (answer.refused && answer.taken == 0) return reply(pending.token, std::move(answer)), Verdict::settled;
    answer.position = answer.refused ? command.offsets[answer.taken] : command.next;
    add_input(command.input, answer.position, pending.token, std::move(answer));
    return Verdict::settled;
}

Engine::Verdict Engine::relocate_input(PendingCommand& pending, const RelocateSettingsCommand& command) {
    if (inputs_.in_batch.contains(command.queue)) return Verdict::deferred;
    const InputPosition* stored = inputs_.find(command.queue);
    if (stored == nullptr || stored->log_position != command.log_position) {
        return reply(pending.token, RelocateAnswer{}), Verdict::settled;
    }
    add_input(command.queue, stored->offset, pending.token, RelocateAnswer{true, batch().next_sequence()});
    return Verdict::settled;
}

void Engine::add_input(const std::string& input, std::int64_t offset, ReplyToken token, Reply with) {
    const std::string value = encode_input_position(offset);
    Record record;
    record.kind = RecordKind::conf;
    record.time_ms = now_;
    record.subject = kSubjectInput;
    record.state.name_space = kDefaultNamespace;
    record.name = input;
    record.value = value;
    if (const InputPosition* stored = inputs_.find(input)) {
        record.log_position = stored->log_position;
        record.record_bytes = stored->record_bytes;
        record.previous.version = 1;  // there is one
        record.previous.term =
            settings_term(kSubjectInput, kDefaultNamespace, input, encode_input_position(stored->offset));
    }
    inputs_.in_batch.insert(input);
    batch().add(record, kNoEntry, token, std::move(with));
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

#include "engine/puts/inputs.h"

#include <cassert>
#include <utility>

#include "base/error_codes.h"
#include "engine/commands/command_traits.h"
#include "message/records/subject.h"
#include "resource/queue_settings.h"

namespace duewheel {

Verdict Inputs::decide(PendingCommand& pending, TakeRecordsCommand& command) {
    assert(command.puts.size() == command.offsets.size());
    if (table_.in_batch.contains(command.input)) return Verdict::deferred;
    // Its position alone would make the log longer.
    if (segment_.refuses_puts()) {
        counters_.refused_full += record_count(pending.command);
        return replied(pending, store_full());
    }
    const InputPosition* current = table_.find(command.input);
    TakeRecordsAnswer answer;
    if (current != nullptr) answer.position = current->offset;
    if (answer.position != command.position) {
        return replied(pending, Error{"position_moved"_code,
                                      "the next record of input `" + command.input + "` has offset " +
                                          std::to_string(answer.position) + ", and the reader expected " +
                                          std::to_string(command.position) +
                                          ": two readers use this input; stop one of them, then restart the server"});
    }
    std::vector<Puts::Holder> holders;
    if (const auto verdict = puts_.look_up(pending, command.puts, holders)) return *verdict;
    Puts::HeldKeys held_here;
    for (std::size_t i = 0; i < command.puts.size() && !answer.refused; ++i) {
        PutResult result = puts_.put_one_of(command.puts[i], holders[i], held_here);
        if (auto* error = std::get_if<Error>(&result)) {
            answer.refused = std::move(*error);
        } else {
            ++answer.taken;
        }
    }
    puts_.withdraw(holders);
    if (answer.refused && answer.taken == 0) return replied(pending, std::move(answer));
    answer.position = answer.refused ? command.offsets[answer.taken] : command.next;
    add_position(command.input, answer.position, pending.token, std::move(answer));
    return Verdict::settled;
}

Verdict Inputs::decide(PendingCommand& pending, const RelocateSettingsCommand& command) {
    if (table_.in_batch.contains(command.queue)) return Verdict::deferred;
    const InputPosition* stored = table_.find(command.queue);
    if (stored == nullptr || stored->log_position != command.log_position) return replied(pending, RelocateAnswer{});
    add_position(command.queue, stored->offset, pending.token, RelocateAnswer{true, batch().next_sequence()});
    return Verdict::settled;
}

void Inputs::add_position(const std::string& input, std::int64_t offset, ReplyToken token, Reply with) {
    std::optional<StoredConf> before;
    if (const InputPosition* stored = table_.find(input)) {
        before = {stored->log_position, stored->record_bytes, 1, encode_input_position(stored->offset)};
    }
    table_.in_batch.emplace(input, offset);
    add_conf(Subject::input, kDefaultNamespace, input, encode_input_position(offset), before, token, std::move(with));
}

void Inputs::apply(const Operation& operation, const ConfRecord&) {
    const auto next = table_.in_batch.extract(operation.name);
    table_.set({operation.name, next.mapped(), operation.sequence, operation.frame_bytes});
}

}  // namespace duewheel

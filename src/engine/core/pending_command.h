// A command that changes something, or a read, while it waits: for a batch, or for the result of a lookup.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/commands/command.h"
#include "engine/core/fair_lines.h"
#include "message/access_token.h"
#include "store/store.h"

namespace duewheel {

struct PendingCommand {
    Command command;
    ReplyToken token = 0;
    // The lookup result for the message, if the recent tier does not know it; null before the lookup.
    std::unique_ptr<std::optional<MessageRow>> facts;
    // Lookup results: for puts with keys, in order; for a message identified by its key.
    std::optional<std::vector<std::optional<KeyFacts>>> key_facts;
    Generation facts_generation = 0;
    Generation key_facts_generation = 0;
    std::size_t bytes = 0;  // of the content of a put
    LineKey line;
    std::uint32_t weight = 1;  // of its namespace
    SharedLimits limits;
};
// It has a kilobyte, and is moved from line to line by its address.
using PendingPtr = std::unique_ptr<PendingCommand>;

// What became of a command: it was answered or is in the batch; it waits for the next batch, or for a lookup.
enum class Verdict : std::uint8_t { settled, deferred, looking_up };

}  // namespace duewheel

// Finds the message that a command identifies, by its id, by an idempotency key, or by a lease: in the batch in
// construction, in the recent tier, or in the index, which is looked up. The command waits for that, and is validated
// again with the result.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/core/batch_writer.h"
#include "engine/messages/lifecycle.h"

namespace duewheel {

// The message that a command identifies.
struct Known {
    enum class What : std::uint8_t { entry, ended, unknown, gone, needs_lookup, busy } what = What::gone;
    EntryNumber entry = kNoEntry;
    MessageRow ended;
    bool admitted = false;  // from the lookup result, for this command
};

struct KeyLookup {
    enum class What : std::uint8_t { free, held, needs_lookup, busy } what = What::free;
    KeyFacts holder;
};

class MessageFinder : Uses<EngineOptions, RecentTier, ServerTime, Lookups, BatchPipeline, OpenSegment, LeaseSigner,
                           RunState, Effects, TimeRules, BatchWriter> {
  public:
    MessageFinder(const Uses& uses, Lifecycle& lifecycle) : Uses(uses), lifecycle_(lifecycle) {}

    // `name_space`: of the command; null if it identifies the message by a lease.
    Known find(PendingCommand& pending, MessageId id, const std::string* name_space);
    // Defers or answers the command, or looks the message up, if there is no entry; nothing if there is one, or an
    // outcome.
    std::optional<Verdict> answer_unless_here(const Known& known, PendingCommand& pending, MessageId id);
    // Returns an entry that was loaded for a command to its former state; the command changed nothing.
    void withdraw(const Known& known);
    // The reply of a command that changed nothing.
    Verdict replied_unchanged(const Known& known, const PendingCommand& pending, Reply with);
    // Ends a message that belongs to a purge, with this reply.
    Verdict purge(const Known& known, PendingCommand& pending, Reply with);

    // Finds the message that `lease` still holds. Otherwise answers or defers the command, or looks the message up, and
    // returns which.
    std::optional<Verdict> find_leased(PendingCommand& pending, const LeaseToken& lease, Known& known);

    // Sets `id` if the command identifies its message by key. Otherwise answers or defers the command, or looks the key
    // up, and returns which. If another message than in an earlier call holds the key by then, it is in the recent
    // tier: the earlier lookup result is not used for it.
    std::optional<Verdict> name_by_key(PendingCommand& pending, const std::string& name_space, const MessageKey& by_key,
                                       MessageId& id);
    // Which message holds the key. `facts`: the lookup result of the index; null if there was no lookup, or it is older
    // than the newest table. `busy`: no message holds it yet, but a put in the batch will.
    KeyLookup look_up_key(std::string_view name_space, std::string_view queue_name, std::string_view key,
                          const std::optional<KeyFacts>* facts) const;
    // The unfinished message that holds a key, for a put that keeps or replaces it: an entry, or `busy`, or
    // `needs_lookup`, if the key must be looked up again.
    Known find_holder(const KeyFacts& holder, const PendingCommand& pending);

  private:
    LeaseEndAnswer repeated_end(const Entry& entry, const LeaseToken& lease, const Command& command) const;
    Known usable(Known known, const PendingCommand& pending);

    Lifecycle& lifecycle_;
};

}  // namespace duewheel

// The commands that wait for a batch or for the result of a lookup, in fair lines (fair_lines.h), and how many may
// wait.
//
// There are four lines: puts and all others, each with and without a lookup result. Those with a result come first. The
// batch in construction takes from them (engine_batches.cc).
//
// The commands of a namespace that wait may use up to four times the capacity that is free: one namespace that floods
// leaves a fifth, and a second one uses four fifths of that (dynamic thresholds: Choudhury and Hahne, 1998). A command
// that is being looked up still counts.
//
// Single-threaded; it validates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

#include "engine/commands/command_traits.h"
#include "engine/core/fair_lines.h"
#include "engine/core/pending_command.h"
#include "engine/core/uses.h"
#include "engine/settings/namespace_table.h"

namespace duewheel {

class CommandQueue : Uses<EngineOptions, RecentTier, Lookups> {
  public:
    using Lines = FairLines<PendingPtr>;

    CommandQueue(const Uses& uses, const NamespaceTable& namespaces) : Uses(uses), namespaces_(namespaces) {}

    // Whether no other command may wait, whatever its namespace.
    bool is_full() const { return waiting() >= options_.commands_waiting_max; }
    // Adds a command. False if too many of its namespace wait; compaction limits itself, and may always wait.
    bool push(Command&& command, ReplyToken token, SharedLimits limits);
    // The command returns with its lookup result.
    void push_looked_up(PendingCommand&& pending);
    // The command was taken from its line and is answered, or is in a batch.
    void release(LineKey line, std::size_t bytes);
    // Removes the puts without a lookup result for which `drops` is true.
    template <class Drops>
    void erase_puts_if(Drops&& drops) {
        puts_.erase_if([&](const PendingPtr& put) {
            if (!drops(*put)) return false;
            release(put->line, put->bytes);
            return true;
        });
    }

    Lines& looked_up() { return looked_up_; }
    Lines& others() { return others_; }
    Lines& looked_up_puts() { return looked_up_puts_; }
    Lines& puts() { return puts_; }
    const Lines& looked_up() const { return looked_up_; }
    const Lines& others() const { return others_; }
    const Lines& puts() const { return puts_; }
    bool has_puts() const { return !looked_up_puts_.empty() || !puts_.empty(); }
    // None waits in a line.
    bool is_empty() const { return looked_up_.empty() && others_.empty() && !has_puts(); }

    // The number of commands, including open lookups; and the content of the puts among them.
    std::size_t waiting() const {
        return looked_up_.size() + others_.size() + looked_up_puts_.size() + puts_.size() + lookups_.open();
    }
    std::size_t waiting_bytes() const { return waiting_bytes_; }

  private:
    struct Share {
        std::size_t commands = 0;
        std::size_t bytes = 0;
    };

    struct Names {
        const std::string* name_space = nullptr;
        const std::string* line = nullptr;  // null: that of all other commands of the namespace
    };

    Names names_of(const Command& command) const;
    static LineKey line_of(const Names& names);
    std::uint32_t weight_of(const Names& names) const;
    bool may_wait(LineKey line, std::size_t bytes) const;
    static void push(Lines& lines, PendingPtr pending);

    const NamespaceTable& namespaces_;
    Lines looked_up_;
    Lines others_;
    Lines looked_up_puts_;
    Lines puts_;
    std::size_t waiting_bytes_ = 0;
    std::unordered_map<std::uint64_t, Share> shares_;  // of commands that are not released, by namespace
};

}  // namespace duewheel

#include "engine/core/command_queue.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <variant>

#include "base/dynamic_threshold.h"

namespace duewheel {

bool CommandQueue::push(Command&& command, ReplyToken token, SharedLimits limits) {
    const std::size_t bytes = payload_bytes(command);
    const Names names = names_of(command);
    const LineKey line = line_of(names);
    if (is_limited(command) && !may_wait(line, bytes)) return false;
    const std::uint32_t weight = weight_of(names);
    PendingPtr pending(new PendingCommand{.command = std::move(command),
                                          .token = token,
                                          .bytes = bytes,
                                          .line = line,
                                          .weight = weight,
                                          .limits = std::move(limits)});
    waiting_bytes_ += bytes;
    Share& share = shares_[line.name_space];
    ++share.commands;
    share.bytes += bytes;
    if (const auto* relocate = std::get_if<RelocateCommand>(&pending->command)) {  // it brings what it has read
        pending->facts = std::make_unique<std::optional<MessageRow>>(relocate->row);
        pending->facts_generation = relocate->generation;
    }
    Lines& lines = is_a_put(pending->command) ? puts_ : others_;
    push(lines, std::move(pending));
    return true;
}

void CommandQueue::push_looked_up(PendingCommand&& pending) {
    Lines& lines = is_a_put(pending.command) ? looked_up_puts_ : looked_up_;
    push(lines, std::make_unique<PendingCommand>(std::move(pending)));
}

void CommandQueue::push(Lines& lines, PendingPtr pending) {
    const LineKey line = pending->line;
    const std::uint32_t weight = pending->weight;
    lines.push(line, weight, std::move(pending));
}

// The namespace and the queue of a command: those in it, or of the message that its lease holds. Null if they are
// unknown, and for compaction.
CommandQueue::Names CommandQueue::names_of(const Command& command) const {
    if (is_of_cleaning(command)) return {};
    return with_traits(command, [this](auto traits, const auto& of) -> Names {
        if constexpr (requires { of.lease.id; }) {
            const EntryNumber found = recent_.find(of.lease.id);
            if (found == kNoEntry) return {};
            const QueueName& name = recent_.queues().name(recent_.entry(found).queue);
            return {&name.name_space, &name.queue};
        } else if constexpr (requires { of.puts.front().name_space; }) {
            return of.puts.empty() ? Names{} : Names{&of.puts.front().name_space, traits.line(of)};
        } else if constexpr (requires { of.name_space; }) {
            return {&of.name_space, traits.line(of)};
        } else {
            return {};
        }
    });
}

// The line in which a command waits. Two commands on one message that its connection may send at once are in one line,
// and so are two puts of one key, unless they come from an input.
LineKey CommandQueue::line_of(const Names& names) {
    const auto number = [](std::string_view name) { return std::hash<std::string_view>{}(name); };
    if (names.name_space == nullptr) return {};
    return {number(*names.name_space), names.line == nullptr ? 0 : number(*names.line)};
}

std::uint32_t CommandQueue::weight_of(const Names& names) const {
    if (namespaces_.with_settings == 0 || names.name_space == nullptr) return 1;
    const Namespace* space = namespaces_.find(*names.name_space);
    return space == nullptr ? 1 : static_cast<std::uint32_t>(std::max<std::uint64_t>(space->settings().weight, 1));
}

bool CommandQueue::may_wait(LineKey line, std::size_t bytes) const {
    const std::size_t all = waiting();
    if (all >= options_.commands_waiting_max || waiting_bytes_ + bytes > options_.waiting_bytes_max) return false;
    const auto found = shares_.find(line.name_space);
    if (found == shares_.end()) return true;
    const Share& own = found->second;
    return may_take_one(own.commands, all, options_.commands_waiting_max) &&
           own.bytes <= kTimesFree * (options_.waiting_bytes_max - waiting_bytes_);
}

void CommandQueue::release(LineKey line, std::size_t bytes) {
    waiting_bytes_ -= bytes;
    const auto share = shares_.find(line.name_space);
    share->second.bytes -= bytes;
    if (--share->second.commands == 0) shares_.erase(share);
}

}  // namespace duewheel

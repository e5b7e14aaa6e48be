#include "engine/core/command_queue.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <variant>

#include "base/dynamic_threshold.h"

namespace duewheel {

bool CommandQueue::push(Command&& command, ReplyToken token, SharedLimits limits) {
    const std::size_t bytes = payload_bytes(command);
    const LineKey line = line_of(command);
    if (is_limited(command) && !may_wait(line, bytes)) return false;
    const std::uint32_t weight = weight_of(command);
    PendingCommand pending{.command = std::move(command),
                           .token = token,
                           .bytes = bytes,
                           .line = line,
                           .weight = weight,
                           .limits = std::move(limits)};
    waiting_bytes_ += bytes;
    Share& share = shares_[line.name_space];
    ++share.commands;
    share.bytes += bytes;
    if (const auto* relocate = std::get_if<RelocateCommand>(&pending.command)) {  // it brings what it has read
        pending.facts = relocate->row;
        pending.facts_generation = relocate->generation;
    }
    push(is_a_put(pending.command) ? puts_ : others_, std::move(pending));
    return true;
}

void CommandQueue::push_looked_up(PendingCommand&& pending) {
    push(is_a_put(pending.command) ? looked_up_puts_ : looked_up_, std::move(pending));
}

void CommandQueue::push(Lines& lines, PendingCommand&& pending) {
    const LineKey line = pending.line;
    const std::uint32_t weight = pending.weight;
    lines.push(line, weight, std::move(pending));
}

// The namespace of the command; null if it is unknown, and for compaction.
const std::string* CommandQueue::name_space_of(const Command& command) const {
    if (is_of_cleaning(command)) return nullptr;
    return std::visit(
        [this](const auto& named) -> const std::string* {
            if constexpr (requires { named.lease.id; }) {
                const EntryNumber found = recent_.find(named.lease.id);
                if (found == kNoEntry) return nullptr;
                return &recent_.queues().name(recent_.entry(found).queue).name_space;
            } else if constexpr (requires { named.puts.front().name_space; }) {
                return named.puts.empty() ? nullptr : &named.puts.front().name_space;
            } else if constexpr (requires { named.name_space; }) {
                return &named.name_space;
            } else {
                return nullptr;
            }
        },
        command);
}

// The line in which a command waits. Two commands on one message are in one line, and so are two puts of one key,
// unless they come from an input.
LineKey CommandQueue::line_of(const Command& command) const {
    const auto number = [](std::string_view name) { return std::hash<std::string_view>{}(name); };
    const std::string* name_space = name_space_of(command);
    if (name_space == nullptr) return {};
    const std::string* line =
        with_traits(command, [](auto traits, const auto& of) -> const std::string* { return traits.line(of); });
    return {number(*name_space), line == nullptr ? 0 : number(*line)};
}

std::uint32_t CommandQueue::weight_of(const Command& command) const {
    const std::string* name_space = namespaces_.with_settings == 0 ? nullptr : name_space_of(command);
    const Namespace* space = name_space == nullptr ? nullptr : namespaces_.find(*name_space);
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

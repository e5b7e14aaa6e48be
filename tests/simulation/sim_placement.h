// Which node accepts a request, as the server decides it (http_api/calls/shard_placement.h), where a run has several
// shards; and the namespaces of its clients, placed as the documentation says (docs/kafka.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "engine/commands/command.h"

namespace duewheel {

// The shard of the node that executes the command, whichever node it is sent to; nothing: any node does.
std::optional<std::uint32_t> shard_of_command(const Command& command, std::uint32_t shards);

// The shard that the documentation names (docs/kafka.md, "Shards").
std::optional<std::uint32_t> documented_shard(const Command& command, std::uint32_t shards);

// Two names that belong to this shard.
std::array<std::string, 2> namespaces_of_shard(std::uint32_t shard, std::uint32_t shards);

}  // namespace duewheel

// Which shard a request is for, where the namespaces are spread over several servers.
//
// A namespace, with everything in it, is in one shard. Its number is the XXH3 (64 bits, seed 0) of the name modulo the
// number of shards, so that every node and every client can compute it, and none has to store it:
//
//     "orders": 0xa88ccdc9fa4974fb, so shard 1 of 2
//
// The only exception are the namespaces of the input topics of Kafka, `kafka-K`: each shard reads its own partitions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http_api/calls/call_path.h"
#include "net/http/http_message.h"

namespace duewheel {

// `shards` is at least 1.
std::uint32_t shard_of_namespace(std::string_view name, std::uint32_t shards);

// The namespace for the messages of input topics that this shard reads: `kafka`, or one of its own for each of several.
std::string input_namespace(std::uint32_t shard, std::uint32_t shards);

// By the namespace of the call; by the token where it ends leases (of many: the first one), because that is where the
// lease is, whatever the namespace. Nothing: each node answers for itself, which are the pages of the server, the list
// of namespaces and access tokens. Also if the namespace or the token cannot be read: any node refuses that.
std::optional<std::uint32_t> shard_of_request(const HttpRequest& request, const CallPath& call, std::uint32_t shards);

// 307 to the same target at the owner of a shard; 503 `no_owner` if `owner` is empty.
HttpResponse redirect_to_owner(const HttpRequest& request, std::uint32_t shard, const std::string& owner);

}  // namespace duewheel

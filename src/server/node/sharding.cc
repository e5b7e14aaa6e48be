#include "server/node/sharding.h"

#include <algorithm>
#include <utility>

#include "base/error_codes.h"

namespace duewheel {
namespace {

constexpr std::size_t kNodeUrlBytesMax = 2'000;

Error bad_shard_setting(std::string name, const std::string& why) {
    return {"bad_shard_setting"_code, "the setting " + name + " " + why, std::move(name)};
}

}  // namespace

bool is_node_url(std::string_view url) {
    std::string_view authority = url;
    if (authority.starts_with("http://")) {
        authority.remove_prefix(7);
    } else if (authority.starts_with("https://")) {
        authority.remove_prefix(8);
    } else {
        return false;
    }
    return !authority.empty() && url.size() <= kNodeUrlBytesMax &&
           std::all_of(authority.begin(), authority.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      std::string_view("-._~[]:").find(c) != std::string_view::npos;
           });
}

Status check_sharding(const Sharding& sharding, bool is_replicated) {
    if (sharding.number >= sharding.count) {
        return bad_shard_setting("shards.number", "is " + std::to_string(sharding.number) + ", and shards.count is " +
                                                      std::to_string(sharding.count) +
                                                      ": shards are numbered from 0, so give a smaller number");
    }
    if (is_replicated && !sharding.urls.empty()) {
        return bad_shard_setting("shards.urls",
                                 "has no use with kafka.log.replicate, where nodes find owners in Kafka: remove it");
    }
    if (!is_replicated && sharding.count > 1 && sharding.urls.size() != sharding.count) {
        return bad_shard_setting("shards.urls", "has " + std::to_string(sharding.urls.size()) +
                                                    " URLs, and shards.count is " + std::to_string(sharding.count) +
                                                    ": give the URL of the server of each shard, in their order");
    }
    if (sharding.count == 1 && !sharding.urls.empty()) {
        return bad_shard_setting("shards.urls", "names servers of several shards, and shards.count is 1: set both");
    }
    for (const std::string& url : sharding.urls) {
        if (is_node_url(url)) continue;
        return bad_shard_setting(
            "shards.urls", "contains \"" + url + "\", which is not the URL of a server, such as http://node1:7420");
    }
    return {};
}

}  // namespace duewheel

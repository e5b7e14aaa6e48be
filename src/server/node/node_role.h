// The role of this node: whether it replicates its log, as the owner of its shard, and what it knows about the owners
// of the other shards.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/log.h"
#include "server/limits/server_options.h"
#include "server/node/log_replication.h"
#include "server/node/owners_topic.h"
#include "server/node/standby.h"
#include "server/shard/shard_owners.h"

namespace duewheel {

class NodeRole {
  public:
    // With a takeover, its HTTP address becomes that of the options. `on_fatal_error`: as LogReplication. All outlive
    // it.
    NodeRole(ServerOptions& options, std::optional<Takeover> takeover, LogSink& log,
             std::function<void(const Error&)> on_fatal_error)
        : options_(options), log_(log) {
        for (std::uint32_t i = 0; i < options.shards.urls.size(); ++i) owners_.set(i, options.shards.urls[i]);
        options.kafka.out.shard = static_cast<std::int32_t>(options.shards.number);
        if (!takeover) return;
        options.http_address = takeover->http_address;
        replication_ = std::make_unique<LogReplication>(*std::move(takeover), options.data_directory, options.kafka,
                                                        log, std::move(on_fatal_error));
    }

    // Null: the log is only here.
    LogReplication* replication() { return replication_.get(); }
    const LogReplication* replication() const { return replication_.get(); }
    // No broker acknowledges commits at the moment.
    bool is_waiting() const { return replication_ && replication_->is_waiting(); }

    // When the shard is recovered: replicates its log, and says where it is served.
    void start(const std::string& http_address) {
        if (!replication_) return;
        replication_->start();
        owners_topic_.emplace(replication_->cluster(), options_.kafka.owners_topic(), owners_, log_);
        owners_topic_->start();
        owners_topic_->announce(options_.shards.number, url_of_node(options_, http_address));
    }
    // Before anything that waits for a commit is destroyed.
    void stop() {
        if (replication_) replication_->stop();
    }
    // The URL of the shard's owner; empty: not known.
    std::string url_of(std::uint32_t shard) const { return owners_.url_of(shard); }

  private:
    const ServerOptions& options_;
    LogSink& log_;
    std::unique_ptr<LogReplication> replication_;
    ShardOwners owners_;
    std::optional<OwnersTopic> owners_topic_;  // nothing: the owners are those of the settings
};

}  // namespace duewheel

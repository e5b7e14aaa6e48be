// Access tokens: `conf` records like the settings of queues and namespaces. The engine only stores them. The
// permissions of a token are checked before a command gets here (access/), except for the queue of a message, a lease,
// a schedule or a watchdog: only the engine knows it, and compares it with the limits of the command when it is looked
// up.
//
// The engine sees only hashes. The interface that receives a request creates a secret, returns it once, and does not
// keep it.
#pragma once

#include <string>
#include <string_view>

#include "engine/core/batch_writer.h"
#include "engine/settings/token_table.h"

namespace duewheel {

class Tokens : Uses<EngineOptions, ServerTime, Effects, BatchWriter> {
  public:
    static constexpr bool owns(Subject subject) { return subject == Subject::token; }

    Tokens(const Uses& uses, const std::vector<StoredToken>& stored) : Uses(uses) {
        for (const StoredToken& token : stored) table_.set(token);
    }

    Verdict decide(PendingCommand& pending, const ChangeTokenCommand& command);
    // Compaction writes it again, unchanged.
    Verdict decide(PendingCommand& pending, const RelocateSettingsCommand& command);
    void apply(Operation& operation, const ConfRecord& record);
    void read(const DescribeTokenCommand& command, ReplyToken token, const SharedLimits& limits);
    void read(const ListTokensCommand& command, ReplyToken token, const SharedLimits& limits);

    // What is durable. Valid until the next iteration.
    const TokenTable& table() const { return table_; }

  private:
    void add(const std::string& id, std::string_view value, ReplyToken token, Reply with);

    TokenTable table_;
};

}  // namespace duewheel

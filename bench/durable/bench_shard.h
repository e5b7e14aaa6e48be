// A shard without sockets, whose blocking steps run on the calling thread.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/error_codes.h"
#include "base/log.h"
#include "server/shard/shard_parts.h"

namespace duewheel::bench {

class WarningLog final : public LogSink {
    void write(LogLevel level, std::string_view event, std::string_view message,
               std::span<const LogField> fields) override {
        if (level >= LogLevel::warning) std::fprintf(stderr, "%s\n", log_line(level, event, message, fields).c_str());
    }
};

[[noreturn]] inline void fail(const Error& error) {
    std::fprintf(stderr, "%s: %s\n", std::string(name_of(error.code)).c_str(), error.message.c_str());
    std::exit(1);
}

// Any error ends the program. Files, rows and retention must outlive it.
class BenchShard {
  public:
    BenchShard(FileSystem& files, const std::string& directory, RowStorage& rows, Retention& retention,
               ShardOptions options = {}) {
        options.identity.instance.fill(std::byte{1});
        options.identity.token_key.fill(std::byte{2});
        Result<std::unique_ptr<ShardParts>> opened = ShardParts::open(files, directory, rows, retention, options, log_);
        if (!opened) fail(opened.error());
        parts_ = *std::move(opened);
    }

    ShardParts& parts() { return *parts_; }
    void submit(Command&& command) { parts_->engine().submit(std::move(command), 1); }

    // Turns until nothing is left to do now, with their blocking steps, except seal(). Each reply is passed to
    // `on_reply`.
    void turn(DueMs now, const std::function<void(Reply&)>& on_reply) {
        Engine& engine = parts_->engine();
        engine.advance_to(now);
        for (Effects effects = engine.take_effects();; effects = engine.take_effects()) {
            if (effects.fatal_error) fail(*effects.fatal_error);
            for (ReplyEffect& effect : effects.replies) on_reply(effect.reply);
            for (const Lookup& lookup : effects.lookups) {
                Result<Answer> answer = parts_->read(lookup);
                if (!answer) fail(answer.error());
                engine.answer(*std::move(answer));
            }
            if (effects.commit) {
                if (Status done = parts_->commit(*effects.commit); !done) fail(done.error());
                engine.committed(*std::move(effects.commit));
            }
            if (effects.commit || !effects.lookups.empty()) continue;
            if (engine.next_wakeup() > now) return;
            engine.advance_to(now);  // a durable batch is applied in several parts
        }
    }

    // Seals all full segments.
    void seal() {
        for (;;) {
            const Result<SegmentNumber> sealed = parts_->seal_next();
            if (!sealed) fail(sealed.error());
            if (*sealed == 0) return;
            parts_->engine().table_taken(*sealed);
        }
    }

  private:
    WarningLog log_;
    std::unique_ptr<ShardParts> parts_;
};

}  // namespace duewheel::bench

// One process of the server without sockets and threads: the parts of a shard, with their blocking steps one at a time.
// A crash destroys this object; disk and rows stay.
//
// Small segments, few entries in memory and short windows, so that a few messages cross the boundaries between memory,
// log and index. Every error of a step ends the fuzzer.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "fuzz/fuzz_target.h"
#include "server/shard/log_cleaning.h"
#include "server/shard/shard_parts.h"

namespace duewheel {

class QuietLog final : public LogSink {
    void write(LogLevel, std::string_view, std::string_view, std::span<const LogField>) override {}
};

class FuzzedShard {
  public:
    FuzzedShard(FileSystem& files, RowStorage& rows, LogSink& log, DueMs& now) : now_(now) {
        ShardOptions options;
        options.engine.segment_bytes = 16 << 10;
        options.engine.ready_max = 8;
        options.engine.load_chunk = 4;
        options.engine.idle_backlog = 2;
        options.engine.window_min_ms = 10'000;
        options.engine.window_max_ms = 20'000;
        options.engine.cursor_records_max = 8;
        options.spare_segments = 0;
        options.reserve_segments = 0;
        options.free_floor_bytes = 0;
        options.identity.instance.fill(std::byte{1});
        options.identity.token_key.fill(std::byte{2});
        Result<std::unique_ptr<ShardParts>> opened = ShardParts::open(files, "/data", rows, retention_, options, log);
        require(opened.ok(), "a shard does not open:", opened.ok() ? "" : opened.error().message);
        parts_ = *std::move(opened);
        cleaning_.emplace(*parts_, kCleaning);
    }

    Engine& engine() { return parts_->engine(); }

    // False: nothing is outstanding.
    bool step() {
        take_effects();
        if (commit_) {
            require(parts_->commit(*commit_).ok(), "a commit failed");
            engine().committed(*std::exchange(commit_, std::nullopt));
            return true;
        }
        if (!lookups_.empty()) {
            Result<Answer> answer = parts_->read(lookups_.front());
            require(answer.ok(), "a question has no answer:", answer.ok() ? "" : answer.error().message);
            lookups_.pop_front();
            engine().answer(*std::move(answer));
            return true;
        }
        const Result<SegmentNumber> sealed = parts_->seal_next();
        require(sealed.ok(), "a segment cannot be sealed");
        if (*sealed != 0) {
            engine().table_taken(*sealed);
            return true;
        }
        if (clean_ == LogCleaning::Step::none) clean_ = cleaning_->next();
        if (clean_ == LogCleaning::Step::none) return false;
        Result<LogCleaning::Found> found = cleaning_->run(std::exchange(clean_, LogCleaning::Step::none));
        require(found.ok(), "the log cannot be cleaned");
        cleaning_->done(*std::move(found));
        return true;
    }
    void settle() {
        for (int steps = 0; steps < 20'000; ++steps) {
            if (!step() && engine().next_wakeup() > now_) return;
        }
        require(false, "the engine never rests");
    }

    std::map<ReplyToken, Reply> replies;

  private:
    static constexpr ReplyTokens kCleaning{1};

    void take_effects() {
        parts_->expire_by(now_);
        engine().advance_to(now_);
        Effects effects = engine().take_effects();
        require(!effects.fatal_error,
                "the engine calls the world broken:", effects.fatal_error ? effects.fatal_error->message : "");
        if (effects.commit) commit_ = std::move(effects.commit);
        for (Lookup& lookup : effects.lookups) lookups_.push_back(std::move(lookup));
        for (ReplyEffect& effect : effects.replies) {
            if (kCleaning.owns(effect.token)) {
                require(cleaning_->reply(effect.reply).ok(), "the cleaner was refused");
            } else {
                require(replies.emplace(effect.token, std::move(effect.reply)).second, "a command is answered twice");
            }
        }
    }

    DueMs& now_;
    Retention retention_;
    std::unique_ptr<ShardParts> parts_;
    std::optional<LogCleaning> cleaning_;
    std::optional<Commit> commit_;
    std::deque<Lookup> lookups_;
    LogCleaning::Step clean_ = LogCleaning::Step::none;
};

}  // namespace duewheel

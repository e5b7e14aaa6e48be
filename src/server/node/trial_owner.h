// For the tests of this folder: owns the parts of one shard as the server does, but runs each blocking step by a call,
// in one thread, so that a test can let the process die between any two of them or inside one.
//
// close() is the death of the process: work in progress is lost, disk and rows stay.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "server/shard/log_cleaning.h"
#include "server/shard/shard_parts.h"

namespace duewheel {

class TrialOwner {
  public:
    static constexpr const char* kQueue = "mail";
    static constexpr DueMs kStart = 1'700'000'000'000;

    TrialOwner(FileSystem& files, std::string directory, LogSink& log)
        : files_(files), directory_(std::move(directory)), log_(log) {
        options.engine.segment_bytes = 16 << 10;
        options.spare_segments = 0;
        options.reserve_segments = 0;
        options.identity.instance.fill(std::byte{1});
        options.identity.token_key.fill(std::byte{2});
    }

    // Starts the process; the first iteration belongs to the caller.
    Status open(RowStorage& rows) {
        Result<std::unique_ptr<ShardParts>> opened =
            ShardParts::open(files_, directory_, rows, retention_, options, log_);
        if (!opened) return std::move(opened).error();
        parts_ = *std::move(opened);
        cleaning_.emplace(*parts_, kCleaning);
        return {};
    }
    void close() {
        cleaning_.reset();
        parts_.reset();
        commit_.reset();
        lookups_.clear();
        replies_.clear();
        clean_ = LogCleaning::Step::none;
        cleans = false;
    }
    const std::string& directory() const { return directory_; }
    ShardParts& parts() { return *parts_; }
    Engine& engine() { return parts_->engine(); }
    LogCleaning& cleaning() { return *cleaning_; }

    // Runs one blocking step and delivers its result, in a fixed order; false if nothing is outstanding. An error of a
    // step ends the process.
    Result<bool> step() {
        take_effects();
        if (commit_) {
            if (Status done = parts_->commit(*commit_); !done) return std::move(done).error();
            engine().committed(*std::exchange(commit_, std::nullopt));
            return true;
        }
        const auto lookup = std::find_if(lookups_.begin(), lookups_.end(), [this](const Lookup& asked) {
            return !holds_record_reads || !std::holds_alternative<ReadRecords>(asked.what);
        });
        if (lookup != lookups_.end()) {
            Result<Answer> answer = parts_->read(*lookup);
            if (!answer) return std::move(answer).error();
            lookups_.erase(lookup);
            engine().answer(*std::move(answer));
            return true;
        }
        if (seals) {
            const Result<SegmentNumber> sealed = parts_->seal_next();
            if (!sealed) return sealed.error();
            if (*sealed != 0) {
                engine().table_taken(*sealed);
                return true;
            }
        }
        if (clean_ == LogCleaning::Step::none && cleans) clean_ = cleaning_->next();
        if (clean_ == LogCleaning::Step::none) return false;
        Result<LogCleaning::Found> found = cleaning_->run(std::exchange(clean_, LogCleaning::Step::none));
        if (!found) return std::move(found).error();
        cleaning_->done(*std::move(found));
        return true;
    }
    // Until nothing is outstanding.
    void settle() {
        for (;;) {
            const Result<bool> went_on = step();
            ASSERT_TRUE(went_on.ok()) << went_on.error().message;
            if (!*went_on && engine().next_wakeup() > now) return;
        }
    }

    // Submits a command without waiting; the reply is stored under its token when it arrives.
    ReplyToken submit(Command command) {
        const ReplyToken token = next_token_++;
        engine().submit(std::move(command), token);
        return token;
    }
    const Reply* reply_to(ReplyToken token) const {
        const auto found = replies_.find(token);
        return found == replies_.end() ? nullptr : &found->second;
    }

    template <class Answer>
    Answer ask(Command command) {
        const ReplyToken token = submit(std::move(command));
        settle();
        const Reply* reply = reply_to(token);
        if (reply == nullptr || !std::holds_alternative<Answer>(*reply)) {
            ADD_FAILURE() << "no such reply";
            return {};
        }
        return std::get<Answer>(*reply);
    }
    MessageId put(std::int64_t delay_ms, std::string body) {
        PutCommand command;
        command.queue = kQueue;
        command.when.delay_ms = delay_ms;
        command.body = std::move(body);
        return ask<PutAnswer>(command).id;
    }

    ShardOptions options;  // of the next start
    DueMs now = kStart;
    bool seals = true;
    bool cleans = false;              // cleaning begins no step before
    bool holds_record_reads = false;  // lookups of log records get no answer

  private:
    static constexpr ReplyTokens kCleaning{1};

    void take_effects() {
        parts_->report_free_space();
        engine().advance_to(now);
        Effects effects = engine().take_effects();
        EXPECT_FALSE(effects.fatal_error) << effects.fatal_error->message;
        if (effects.commit) commit_ = std::move(effects.commit);
        for (Lookup& lookup : effects.lookups) lookups_.push_back(std::move(lookup));
        for (ReplyEffect& effect : effects.replies) {
            if (kCleaning.owns(effect.token)) {
                EXPECT_TRUE(cleaning_->reply(effect.reply).ok());
            } else {
                replies_[effect.token] = std::move(effect.reply);
            }
        }
    }

    FileSystem& files_;
    const std::string directory_;
    LogSink& log_;
    Retention retention_;
    std::unique_ptr<ShardParts> parts_;
    std::optional<LogCleaning> cleaning_;
    std::optional<Commit> commit_;
    std::deque<Lookup> lookups_;
    std::map<ReplyToken, Reply> replies_;
    ReplyToken next_token_ = 1;
    LogCleaning::Step clean_ = LogCleaning::Step::none;
};

}  // namespace duewheel

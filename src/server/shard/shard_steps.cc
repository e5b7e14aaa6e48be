#include "server/shard/shard_steps.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error_codes.h"
#include "shared/system_clock.h"

namespace duewheel {
namespace {

constexpr int kRetryWhenFullSeconds = 1;
constexpr int kPatrolPauseSeconds = 1;
constexpr std::size_t kLookupsPerJob = 16;

std::uint64_t micros_since(std::int64_t start_ns) {
    return static_cast<std::uint64_t>((monotonic_now_ns() - start_ns) / 1000);
}

}  // namespace

void CommitStep::delay_batch(std::int64_t now_ns) {
    Engine& engine = context_.engine();
    engine.delay_batch(delay_.holds(now_ns, engine.commands_waiting()));
}

void CommitStep::begin(Commit commit) {
    delay_.begun();
    const std::int64_t start_ns = monotonic_now_ns();
    worker_.run([this, commit = std::move(commit), start_ns]() mutable {
        // A commit fails on a full disk only at the start of a segment, and then has changed nothing: it is tried
        // again.
        bool logged = false;
        for (Status done = context_.parts.commit(commit); !done; done = context_.parts.commit(commit)) {
            if (done.error().code != "no_space"_code) context_.on_fatal_error(done.error());
            if (!std::exchange(logged, true)) {
                context_.log.warning("commit_blocked", "The disk is full: the commit waits until there is space.",
                                     {{"error", done.error().message}});
            }
            if (!worker_.pause(kRetryWhenFullSeconds)) return;
        }
        context_.loop.post(
            [this, commit = std::move(commit), start_ns]() mutable { end(std::move(commit), start_ns); });
    });
}

void CommitStep::end(Commit commit, std::int64_t start_ns) {
    us_.record(micros_since(start_ns));
    clock_.set_engine_time();
    Engine& engine = context_.engine();
    const std::int64_t now_ns = monotonic_now_ns();
    delay_.committed(now_ns, now_ns - start_ns, engine.commands_in_flight(), engine.commands_waiting());
    delay_batch(now_ns);
    engine.committed(std::move(commit));
}

void CleaningStep::go_on() {
    const LogCleaning::Step step = cleaning_.next();
    if (step == LogCleaning::Step::none) return;
    worker_.run([this, step] {
        Result<LogCleaning::Found> found = cleaning_.run(step);
        if (!found) context_.on_fatal_error(found.error());
        context_.loop.post([this, found = *std::move(found)]() mutable {
            cleaning_.done(std::move(found));
            go_on();
        });
    });
}

void CleaningStep::receive(const Reply& reply) {
    if (Status taken = cleaning_.reply(reply); !taken) context_.on_fatal_error(taken.error());
    go_on();
}

void LookupStep::begin(std::vector<Lookup> lookups) {
    if (lookups.size() <= kLookupsPerJob) return begin_some(std::move(lookups));
    for (std::size_t from = 0; from < lookups.size(); from += kLookupsPerJob) {
        const std::size_t until = std::min(lookups.size(), from + kLookupsPerJob);
        begin_some({std::make_move_iterator(lookups.begin() + static_cast<std::ptrdiff_t>(from)),
                    std::make_move_iterator(lookups.begin() + static_cast<std::ptrdiff_t>(until))});
    }
}

void LookupStep::begin_some(std::vector<Lookup> lookups) {
    const std::int64_t start_ns = monotonic_now_ns();
    worker_.run([this, lookups = std::move(lookups), start_ns] {
        std::vector<Answer> answers;
        answers.reserve(lookups.size());
        for (const Lookup& lookup : lookups) {
            Result<Answer> answer = context_.parts.read(lookup);
            if (!answer) context_.on_fatal_error(answer.error());
            answers.push_back(*std::move(answer));
        }
        context_.loop.post([this, answers = std::move(answers), start_ns]() mutable {
            us_.record(micros_since(start_ns));
            clock_.set_engine_time();
            for (Answer& answer : answers) context_.engine().answer(std::move(answer));
            cleaning_.answered();
        });
    });
}

void SealStep::begin() {
    if (queued_.exchange(true)) return;
    worker_.run([this] {
        queued_ = false;  // segments that are closed from now on queue the next job
        for (;;) {
            const std::int64_t start_ns = monotonic_now_ns();
            const Result<SegmentNumber> sealed = context_.parts.seal_next();
            if (!sealed && sealed.error().code == "no_space"_code) {
                if (!std::exchange(wait_logged_, true)) {
                    context_.log.warning("index_update_blocked",
                                         "The disk is full: the index cannot be updated. The update is retried.",
                                         {{"error", sealed.error().message}});
                }
                if (worker_.pause(kRetryWhenFullSeconds)) begin();
                return;
            }
            if (!sealed) context_.on_fatal_error(sealed.error());
            wait_logged_ = false;
            if (*sealed == 0) return;
            const SegmentNumber number = *sealed;
            context_.loop.post([this, number, start_ns] {
                us_.record(micros_since(start_ns));
                context_.engine().table_taken(number);
                cleaning_.go_on();
            });
        }
    });
}

void PatrolStep::begin_once() {
    if (std::exchange(begun_, true)) return;
    worker_.run([this] {
        std::uint64_t segments = 0;
        for (;; ++segments) {
            const Result<bool> more = context_.parts.verify_next_segment();
            if (!more) context_.on_fatal_error(more.error());
            if (!*more) break;
            if (!worker_.pause(kPatrolPauseSeconds)) return;
        }
        context_.log.info("log_verified", "Every segment of the log was read and is undamaged.",
                          {{"segments", segments}});
    });
}

}  // namespace duewheel

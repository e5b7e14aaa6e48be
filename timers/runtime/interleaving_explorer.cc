#include "runtime/interleaving_explorer.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <semaphore>
#include <thread>
#include <utility>

#include "runtime/interleaving_point.h"

namespace duewheel {
namespace {

// One run. Everything in it is used by one thread at a time: the current one.
class Run {
  public:
    Run(std::vector<unsigned>& decisions, unsigned preemptions)
        : decisions_(decisions), preemptions_left_(preemptions) {}

    void carry_out(std::vector<std::function<void()>>& bodies) {
        for (std::size_t i = 0; i < bodies.size(); ++i) threads_.push_back(std::make_unique<Thread>());
        for (std::size_t i = 0; i < bodies.size(); ++i) {
            threads_[i]->thread = std::thread([this, i, &bodies] {
                threads_[i]->turn.acquire();
                current_run = this;
                bodies[i]();
                current_run = nullptr;
                threads_[i]->ended = true;
                wake_all();
                go_on(true);
            });
        }
        go_on(true);
        over_.acquire();
        for (const auto& thread : threads_) thread->thread.join();
    }

    void point(bool waits) {
        Thread& me = *threads_[current_];
        if (waits) {
            me.waits = true;
        } else {
            wake_all();
        }
        if (go_on(waits)) me.turn.acquire();
    }

    // How many choices there were at each decision of this run.
    const std::vector<unsigned>& choices() const { return choices_; }

    static thread_local Run* current_run;

  private:
    struct Thread {
        std::thread thread;
        std::binary_semaphore turn{0};
        bool ended = false;
        bool waits = false;
    };

    // A thread has done something that others may wait for.
    void wake_all() {
        for (const auto& thread : threads_) thread->waits = false;
    }

    // Chooses the next thread, and makes it the current one. True if it is not the caller, which then waits; after that
    // the caller must not read this object.
    bool go_on(bool must_change) {
        std::vector<std::size_t> able;
        const bool me_too = !must_change && has_begun_;
        if (me_too) able.push_back(current_);
        if (!me_too || preemptions_left_ > 0) {
            for (std::size_t i = 0; i < threads_.size(); ++i) {
                if (!threads_[i]->ended && !threads_[i]->waits && !(me_too && i == current_)) able.push_back(i);
            }
        }
        if (able.empty()) return end_or_die(), true;
        const std::size_t next = able[decide(able.size())];
        if (me_too && next != current_) --preemptions_left_;
        const bool changes = !has_begun_ || next != current_;
        has_begun_ = true;
        current_ = next;
        if (changes) threads_[next]->turn.release();
        return changes;
    }

    std::size_t decide(std::size_t choices) {
        if (choices == 1) return 0;
        const std::size_t number = choices_.size();
        choices_.push_back(static_cast<unsigned>(choices));
        if (number == decisions_.size()) decisions_.push_back(0);
        return decisions_[number];
    }

    void end_or_die() {
        for (const auto& thread : threads_) {
            if (thread->ended) continue;
            std::fprintf(stderr, "interleavings: no thread can go on, after the decisions");
            for (const unsigned decision : decisions_) std::fprintf(stderr, " %u", decision);
            std::fprintf(stderr, "\n");
            std::abort();
        }
        over_.release();
    }

    std::vector<unsigned>& decisions_;
    unsigned preemptions_left_;
    std::vector<unsigned> choices_;
    std::vector<std::unique_ptr<Thread>> threads_;
    std::size_t current_ = 0;
    bool has_begun_ = false;
    std::binary_semaphore over_{0};
};

thread_local Run* Run::current_run = nullptr;

}  // namespace

void interleaving_point() {
    if (Run::current_run != nullptr) Run::current_run->point(false);
}

void interleaving_wait() {
    if (Run::current_run != nullptr) Run::current_run->point(true);
}

Exploration explore(const std::function<Interleaved()>& make, unsigned preemptions, const std::function<bool()>& fails,
                    std::size_t runs_max) {
    Exploration found;
    std::vector<unsigned> decisions;
    for (;;) {
        Interleaved scenario = make();
        Run run(decisions, preemptions);
        run.carry_out(scenario.threads);
        scenario.check();
        ++found.runs;
        found.decisions += decisions.size();
        if (fails()) {
            found.failed = decisions;
            return found;
        }
        // The next list in order: the last decision that has a choice left takes it.
        decisions.resize(run.choices().size());
        while (!decisions.empty() && decisions.back() + 1 == run.choices()[decisions.size() - 1]) decisions.pop_back();
        if (decisions.empty()) return found;
        ++decisions.back();
        if (found.runs == runs_max) {
            found.is_complete = false;
            return found;
        }
    }
}

}  // namespace duewheel

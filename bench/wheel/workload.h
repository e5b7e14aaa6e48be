// The workloads on timers in memory, one definition for all subjects in C and C++: what is scheduled, when time moves
// on, what is timed and what is checked. bench/README.md says what each row means; the same numbers come out of the
// programs in other languages under bench/peers.
//
// Random numbers are splitmix64's. What a fired timer is armed with next comes from its id and the tick alone, so that
// the order in which a subject fires the timers of one tick changes nothing, and all exact subjects end with the same
// count and the same sum.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace duewheel::bench {

using Tick = std::uint64_t;
using Id = std::uint32_t;

constexpr std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
}

class Splitmix {
  public:
    explicit Splitmix(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() { return mixed(state_ += 0x9e3779b97f4a7c15); }
    // From 0 to n - 1; the high half of a product, as a division would cost more than some subjects do.
    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>((next() >> 32) * n >> 32); }

  private:
    std::uint64_t state_;
};

// What a subject calls for each timer that fires, from its own callback.
class Fired {
  public:
    virtual void operator()(Id id) = 0;

  protected:
    ~Fired() = default;
};

// A subject has ids from 0 to `ids` - 1, up to one timer for each, and gets the time as an argument. Nothing is
// virtual: each workload is compiled for each subject.
//
//     Subject(Id ids, Fired& fired)
//     void start(Id id, Tick deadline)      of one that is not pending
//     void stop(Id id)                      of one that is
//     void move(Id id, Tick deadline)       of one that is, to a later time
//     void advance(Tick now)                fires all due by then
//     bool advance_some(Tick now, std::size_t budget)
//                                           where it can stop on the way; whether it has come to `now`
//     Tick next()                           where it says when it next has something to do; kNothing: never
//     std::uint64_t wake_ups(Tick& now)     where it has a loop of its own instead: runs it until no timer waits;
//                                           how often it slept, and what time it is then
//     static constexpr std::size_t kCallerBytes
//                                           of a timer, that are the caller's own: its handle

// What a run found. Times are of one operation, in nanoseconds; `bytes` are of one timer.
struct Outcome {
    double wall_ns = 0;
    double cpu_ns = 0;
    std::uint64_t fired = 0;
    std::uint64_t sum = 0;  // over the fired timers, of id and tick
    std::uint64_t early = 0;
    Tick latest = 0;
    double bytes = 0;                     // after set-up
    double bytes_after = 0;               // after two pairs more a timer
    std::vector<double> quantiles_ns;     // of single calls: p50, p99, p99.9, p99.999, most
    std::vector<std::uint64_t> wake_ups;  // of a loop: until its only timer; when that was cancelled before
    std::vector<double> growth_ns;        // of a start, a stop, a tick; or of a timer that fires
};

// Seconds of the machine's clock and of this thread's processor time. Read directly from the kernel, because a peer's
// clock may replace the C library's.
double wall_seconds();
double cpu_seconds();
std::size_t resident_bytes();
// Says what is wrong with the subject, and exits with 3.
[[noreturn]] void fail(const char* what);
// Says that the subject does not run it, and exits with 2.
[[noreturn]] void no_workload(const std::string& name);

// The middle one of p50, p99, p99.9, p99.999 and the most, of samples in nanoseconds.
std::vector<double> quantiles(std::vector<float> samples);

constexpr Tick kNothing = ~Tick{0};
constexpr Tick kTimeoutMax = 60'000;
constexpr Tick kFarTimer = 350'000;
constexpr Tick kRefresh = 30'000;
constexpr Tick kDay = 86'400'000;
constexpr std::size_t kBudget = 1'000;
constexpr Tick kCrowdAhead = 300'000;
constexpr Id kCrowdWithin = 3'000;
// When enough has been measured of what one call costs.
constexpr double kGrowthOperations = 1'000'000;
constexpr double kGrowthNanoseconds = 2e8;

template <class Subject>
class Run final : public Fired {
  public:
    // With `checks` every deadline is noted and compared with the tick that its timer fires at, and the times mean
    // nothing.
    Run(Id n, bool quick, bool checks)
        : n_(n),
          pairs_(quick           ? 200'000
                 : n > 1'000'000 ? 5'000'000
                                 : 2'000'000),
          checks_(checks) {}

    Outcome run(const std::string& workload) {
        if (workload == "A0") return pairs(false);
        if (workload == "A1") return pairs(true);
        if (workload == "A2") return other_object();
        if (workload == "B") return refresh();
        if (workload == "CU") return expire(false);
        if (workload == "CL") return expire(true);
        if (workload == "D1") return empty_ticks();
        if (workload == "D2") return idle_jump();
        if (workload == "E") return memory();
        if (workload == "LS" || workload == "LC") return call_latency(workload == "LS");
        if (workload == "LA") return advance_latency();
        if constexpr (requires(Subject & subject) { subject.advance_some(Tick{}, std::size_t{}); }) {
            if (workload == "LM") return crowded_tick();
            if (workload == "LD") return before_crowded_tick(kBudget);
            if (workload == "LU") return before_crowded_tick(~std::size_t{0});
            if constexpr (kSaysWhenNext) {
                if (workload == "ST") return crowd_ahead([this] { return now_ + 1; }, ~std::size_t{0});
                if (workload == "SW") return crowd_ahead([this] { return subject_->next(); }, ~std::size_t{0});
                if (workload == "SB") return crowd_ahead([this] { return subject_->next(); }, kBudget);
            }
        }
        if constexpr (kSleeps) {
            if (workload == "D3") return wake_ups();
        }
        if (workload == "growth") return growth();
        if (workload == "expiry") return expiry();
        no_workload(workload);
    }

    void operator()(Id id) override {
        ++outcome_.fired;
        outcome_.sum += mixed(id + now_);
        if (checks_) check(id);
        if (again_ == 0) return;
        start(id, again_ == kTimeoutMax ? 1 + mixed(id * 0x9e3779b97f4a7c15 + now_) % kTimeoutMax : again_);
    }

  private:
    static constexpr bool kSaysWhenNext = requires(Subject & subject) { subject.next(); };
    static constexpr bool kSleeps = kSaysWhenNext || requires(Subject & subject, Tick& now) { subject.wake_ups(now); };

    // Starts the clock, and reads it when it goes out of use.
    class Timing {
      public:
        Timing(Outcome& outcome, double operations)
            : outcome_(outcome), operations_(operations), wall_(wall_seconds()), cpu_(cpu_seconds()) {}
        Timing(const Timing&) = delete;
        Timing& operator=(const Timing&) = delete;
        ~Timing() {
            outcome_.cpu_ns = (cpu_seconds() - cpu_) * 1e9 / operations_;
            outcome_.wall_ns = (wall_seconds() - wall_) * 1e9 / operations_;
        }

      private:
        Outcome& outcome_;
        double operations_;
        double wall_;
        double cpu_;
    };

    Tick timeout() { return 1 + random_.below(kTimeoutMax); }

    void start(Id id, Tick delay) {
        if (checks_) deadlines_[id] = now_ + delay;
        subject_->start(id, now_ + delay);
    }

    void check(Id id) {
        const Tick deadline = deadlines_[id];
        outcome_.early += deadline > now_;
        if (deadline < now_) outcome_.latest = std::max(outcome_.latest, now_ - deadline);
    }

    void make(Id ids) {
        if (checks_) deadlines_.assign(ids, 0);
        subject_ = std::make_unique<Subject>(ids, static_cast<Fired&>(*this));
    }

    void fill() {
        for (Id id = 0; id < n_; ++id) start(id, timeout());
    }

    void tick() { subject_->advance(++now_); }

    // `count` pairs, and a tick after each n/1000 of them.
    template <class Pair>
    void repeat(std::uint64_t count, bool time_passes, Pair&& pair) {
        const std::uint64_t each = std::max<std::uint64_t>(1, n_ / 1000);
        while (count > 0) {
            const std::uint64_t now = std::min(count, each);
            for (std::uint64_t i = 0; i < now; ++i) pair();
            count -= now;
            if (time_passes) tick();
        }
    }

    // Warms up by a pair for each timer, then times.
    template <class Pair>
    Outcome timed(bool time_passes, Pair&& pair) {
        if (!checks_) repeat(std::min<std::uint64_t>(n_, 3'000'000), time_passes, pair);
        {
            const Timing timing(outcome_, static_cast<double>(pairs_));
            repeat(pairs_, time_passes, pair);
        }
        return outcome_;
    }

    void replace_one() {
        const Id id = random_.below(n_);
        subject_->stop(id);
        start(id, timeout());
    }

    Outcome pairs(bool time_passes) {
        make(n_);
        again_ = kTimeoutMax;
        fill();
        return timed(time_passes, [this] { replace_one(); });
    }

    // 2n ids; of the n places in use a random one gets the id that has been free for longest.
    Outcome other_object() {
        make(2 * n_);
        again_ = kTimeoutMax;
        fill();
        std::vector<Id> used(n_);
        std::vector<Id> freed(n_);
        for (Id id = 0; id < n_; ++id) {
            used[id] = id;
            freed[id] = n_ + id;
        }
        Id oldest = 0;
        return timed(true, [&, this] {
            Id& id = used[random_.below(n_)];
            subject_->stop(id);
            std::swap(id, freed[oldest]);
            oldest = oldest + 1 == n_ ? 0 : oldest + 1;
            start(id, timeout());
        });
    }

    Outcome refresh() {
        make(n_);
        again_ = kRefresh;
        fill();
        return timed(true, [this] {
            const Id id = random_.below(n_);
            if (checks_) deadlines_[id] = now_ + kRefresh;
            subject_->move(id, now_ + kRefresh);
        });
    }

    // Up to a day, each power of two as likely as the others.
    Tick long_timeout() {
        const std::uint64_t bits = random_.below(27);
        return std::min(kDay, (Tick{1} << bits) + random_.below(Id{1} << bits));
    }

    Outcome expire(bool up_to_a_day) {
        make(n_);
        std::vector<Tick> delays(n_);
        for (Tick& delay : delays) delay = up_to_a_day ? long_timeout() : timeout();
        const Tick step = up_to_a_day ? 1000 : 1;
        const Tick end = up_to_a_day ? kDay : kTimeoutMax;
        {
            const Timing timing(outcome_, n_);
            for (Id id = 0; id < n_; ++id) start(id, delays[id]);
            while (now_ < end) subject_->advance(now_ += step);
        }
        return outcome_;
    }

    Outcome empty_ticks() {
        make(n_);
        start(0, kFarTimer);
        {
            const Timing timing(outcome_, kFarTimer - 1);
            while (now_ < kFarTimer - 1) tick();
        }
        return outcome_;
    }

    Outcome idle_jump() {
        make(n_);
        constexpr Tick kHour = 3'600'000;
        constexpr int kJumps = 1000;
        start(0, kHour * (kJumps + 1));
        {
            const Timing timing(outcome_, kJumps);
            for (int jump = 0; jump < kJumps; ++jump) subject_->advance(now_ += kHour);
        }
        return outcome_;
    }

    // A loop that sleeps until there is something to do, and ends when no timer waits. What it fires, and when, is
    // looked at here too, as it is nowhere else.
    std::uint64_t sleep_and_wake() {
        if constexpr (kSaysWhenNext) {
            std::uint64_t count = 0;
            for (Tick next = 0; (next = subject_->next()) != kNothing; ++count) {
                if (count == 1'000'000) fail("next() repeatedly reports work, and there is none");
                subject_->advance(now_ = std::max(now_, next));
            }
            return count;
        } else {
            return subject_->wake_ups(now_);
        }
    }

    Outcome wake_ups() {
        make(n_);
        start(0, kFarTimer);
        outcome_.wake_ups.push_back(sleep_and_wake());
        if (outcome_.fired != 1 || outcome_.sum != mixed(kFarTimer)) fail("the timer did not fire, or not in its tick");
        start(0, kFarTimer);
        subject_->stop(0);
        outcome_.wake_ups.push_back(sleep_and_wake());
        if (outcome_.fired != 1) fail("a cancelled timer fired");
        return outcome_;
    }

    Outcome memory() {
        const std::size_t before = resident_bytes();
        subject_ = std::make_unique<Subject>(n_, static_cast<Fired&>(*this));
        again_ = kTimeoutMax;
        fill();
        const auto bytes = [&] {
            const double own = static_cast<double>(resident_bytes()) - static_cast<double>(before);
            return own / n_ - static_cast<double>(Subject::kCallerBytes);
        };
        outcome_.bytes = bytes();
        repeat(2 * std::uint64_t{n_}, true, [this] { replace_one(); });
        outcome_.bytes_after = bytes();
        return outcome_;
    }

    // Each call between two readings of this thread's processor time, whose own cost is taken off.
    static float cost_of_clock() {
        std::vector<float> samples(10'000);
        for (float& sample : samples) sample = timed_call([] {});
        return static_cast<float>(quantiles(samples)[0]);
    }

    template <class Call>
    static float timed_call(Call&& call) {
        const double before = cpu_seconds();
        call();
        return static_cast<float>((cpu_seconds() - before) * 1e9);
    }

    void keep_quantiles(std::vector<float> samples) {
        const float clock = cost_of_clock();
        for (float& sample : samples) sample = std::max(0.0F, sample - clock);
        outcome_.quantiles_ns = quantiles(std::move(samples));
    }

    Outcome call_latency(bool of_schedule) {
        make(n_);
        again_ = kTimeoutMax;
        fill();
        std::vector<float> samples;
        samples.reserve(pairs_);
        repeat(pairs_, true, [&, this] {
            const Id id = random_.below(n_);
            const Tick delay = timeout();
            if (of_schedule) {
                subject_->stop(id);
                samples.push_back(timed_call([&] { start(id, delay); }));
            } else {
                samples.push_back(timed_call([&] { subject_->stop(id); }));
                start(id, delay);
            }
        });
        keep_quantiles(std::move(samples));
        return outcome_;
    }

    Outcome advance_latency() {
        make(n_);
        again_ = kTimeoutMax;
        fill();
        std::vector<float> samples;
        const std::uint64_t ticks = n_ > 1'000'000 ? 20'000 : 120'000;
        samples.reserve(ticks);
        for (std::uint64_t i = 0; i < ticks; ++i) {
            samples.push_back(timed_call([this] { tick(); }));
        }
        keep_quantiles(std::move(samples));
        return outcome_;
    }

    // All timers are due in one tick, and were scheduled in another order than their ids'.
    void crowd_in_one_tick() {
        make(n_);
        std::vector<Id> ids(n_);
        for (Id id = 0; id < n_; ++id) ids[id] = id;
        for (Id id = n_ - 1; id > 0; --id) std::swap(ids[id], ids[random_.below(id + 1)]);
        for (const Id id : ids) start(id, kTimeoutMax);
    }

    // Calls until time has come to `now`, each timed.
    void advance_in_shares(Tick now, std::size_t budget, std::vector<float>& samples) {
        now_ = now;
        for (bool done = false; !done;) {
            samples.push_back(timed_call([&, this] { done = subject_->advance_some(now_, budget); }));
        }
    }

    // The crowd's tick itself, a thousand a call.
    Outcome crowded_tick() {
        crowd_in_one_tick();
        now_ = kTimeoutMax - 1;
        subject_->advance(now_);
        std::vector<float> samples;
        samples.reserve(n_ / kBudget + 16);
        advance_in_shares(kTimeoutMax, kBudget, samples);
        keep_quantiles(std::move(samples));
        return outcome_;
    }

    // The jump to the tick before it: nothing fires, and who keeps far timers by spans moves all of them down.
    Outcome before_crowded_tick(std::size_t budget) {
        crowd_in_one_tick();
        std::vector<float> samples;
        samples.reserve(4 * n_ / kBudget + 16);
        advance_in_shares(kTimeoutMax - 1, budget, samples);
        if (outcome_.fired != 0) fail("a timer fired before its tick");
        keep_quantiles(std::move(samples));
        return outcome_;
    }

    // A burst due within three seconds, five minutes ahead; and another. A loop that calls at the ticks that `wake`
    // names, again and again until nothing is left of what `budget` stopped.
    template <class Wake>
    Outcome crowd_ahead(Wake&& wake, std::size_t budget) {
        make(n_);
        std::vector<float> samples;
        for (int crowd = 1; crowd <= 2; ++crowd) {
            for (Id id = 0; id < n_; ++id) start(id, kCrowdAhead + random_.below(kCrowdWithin));
            while (outcome_.fired < static_cast<std::uint64_t>(crowd) * n_) {
                advance_in_shares(std::max(now_, wake()), budget, samples);
            }
        }
        keep_quantiles(std::move(samples));
        return outcome_;
    }

    // Processor time of what `work` does, in nanoseconds.
    template <class Work>
    static double nanoseconds_of(Work&& work) {
        const double before = cpu_seconds();
        work();
        return (cpu_seconds() - before) * 1e9;
    }

    // What one call costs with n timers pending, each kind of call for itself.
    Outcome growth() {
        const double clock_ns = cost_of_clock();
        make(2 * n_);
        for (Id id = 0; id < n_; ++id) start(id, timeout());
        double start_ns = 0;
        double stop_ns = 0;
        start_and_stop(clock_ns, start_ns, stop_ns);
        outcome_.growth_ns = {start_ns, stop_ns, idle_ticks(clock_ns)};
        return outcome_;
    }

    // Up to a thousand more are started, at most as many as there are, then as many of all are stopped, at random; over
    // and over. Which ones is found out before.
    void start_and_stop(double clock_ns, double& start_ns, double& stop_ns) {
        const Id batch = std::min<Id>(n_, 1'000);
        std::vector<Id> pending(n_);
        std::vector<Id> idle(n_);
        for (Id id = 0; id < n_; ++id) {
            pending[id] = id;
            idle[id] = n_ + id;
        }
        std::vector<Tick> delays(batch);
        double operations = 0;
        while (operations < kGrowthOperations && start_ns + stop_ns < kGrowthNanoseconds) {
            for (Tick& delay : delays) delay = timeout();
            const Id* const started = idle.data() + (n_ - batch);
            start_ns -= clock_ns;
            start_ns += nanoseconds_of([&] {
                for (Id i = 0; i < batch; ++i) start(started[i], delays[i]);
            });
            for (Id i = 0; i < batch; ++i) pending.push_back(started[i]);
            for (Id i = 0; i < batch; ++i) {
                std::swap(pending[random_.below(static_cast<Id>(pending.size()))], pending.back());
                idle[n_ - batch + i] = pending.back();
                pending.pop_back();
            }
            stop_ns -= clock_ns;
            stop_ns += nanoseconds_of([&] {
                for (Id i = 0; i < batch; ++i) subject_->stop(started[i]);
            });
            operations += batch;
        }
        start_ns /= operations;
        stop_ns /= operations;
    }

    // Time of a tick while all timers are due later.
    double idle_ticks(double clock_ns) {
        constexpr Tick kTicks = 50'000;
        make(n_);
        now_ = 0;
        for (Id id = 0; id < n_; ++id) start(id, kTicks + timeout());
        double spent_ns = 0;
        while (now_ < kTicks && spent_ns < kGrowthNanoseconds) {
            const Tick until = now_ + kTicks / 1'000;
            spent_ns -= clock_ns;
            spent_ns += nanoseconds_of([&, this] {
                while (now_ < until) tick();
            });
        }
        return spent_ns / static_cast<double>(now_);
    }

    // Time per timer that fires, and so per tick: n are due within n ticks. Few are done again and again.
    Outcome expiry() {
        const unsigned times = std::max(1U, 10'000 / n_);
        double spent_ns = 0;
        for (unsigned time = 0; time < times; ++time) {
            make(n_);
            now_ = 0;
            for (Id id = 0; id < n_; ++id) start(id, 1 + random_.below(n_));
            outcome_.fired = 0;
            const Tick too_late = 2 * Tick{n_};  // one scheme is allowed to be late
            spent_ns += nanoseconds_of([&, this] {
                while (outcome_.fired < n_ && now_ < too_late) tick();
            });
            if (outcome_.fired != n_) fail("not all fired");
        }
        outcome_.growth_ns = {spent_ns / times / n_};
        return outcome_;
    }

    Id n_;
    std::uint64_t pairs_;
    bool checks_;
    Splitmix random_{1};
    Tick now_ = 0;
    Tick again_ = 0;  // what a fired timer is armed with: nothing, kTimeoutMax for a random timeout, or this
    std::vector<Tick> deadlines_;
    std::unique_ptr<Subject> subject_;
    Outcome outcome_;
};

// PROGRAM SUBJECT WORKLOAD N [--quick] [--check]: prints one line of JSON. `run` knows the subjects of the program.
struct Arguments {
    std::string subject;
    std::string workload;
    Id n = 0;
    bool quick = false;
    bool checks = false;
};
Arguments parse(int count, char** words);
void print_outcome(const Arguments& arguments, const Outcome& outcome);

template <class Subject>
void run_subject(const Arguments& arguments) {
    // On the heap, as some subjects are large.
    const auto run = std::make_unique<Run<Subject>>(arguments.n, arguments.quick, arguments.checks);
    const Outcome outcome = run->run(arguments.workload);
    print_outcome(arguments, outcome);
}

}  // namespace duewheel::bench

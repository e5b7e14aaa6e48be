// The wheels of this project, and what one would write with the standard library, under the workloads of workload.h.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include "wheel/workload.h"
#include <duewheel/id_timing_wheel.h>
#include <duewheel/intrusive_timing_wheel.h>
#include <duewheel/timing_wheel.h>

namespace duewheel::bench {
namespace {

static_assert(kNothing == kNever);

class OwnIds {
  public:
    static constexpr std::size_t kCallerBytes = 0;

    OwnIds(Id ids, Fired& fired) : fired_(fired), wheel_(ids) {}
    void start(Id id, Tick deadline) { wheel_.schedule(id, deadline); }
    void stop(Id id) { wheel_.cancel(id); }
    void move(Id id, Tick deadline) { wheel_.schedule(id, deadline); }
    void advance(Tick now) { static_cast<void>(advance_some(now, IdTimingWheel::kUnlimited)); }
    bool advance_some(Tick now, std::size_t budget) {
        wheel_.advance_to(
            now, [this](Id id, Tick) { fired_(id); }, budget);
        return wheel_.caught_up();
    }
    Tick next() { return wheel_.next_expiry(); }

  private:
    Fired& fired_;
    IdTimingWheel wheel_;
};

class Handles {
  public:
    static constexpr std::size_t kCallerBytes = sizeof(TimerHandle);

    Handles(Id ids, Fired& fired) : fired_(fired), handles_(ids) {}
    void start(Id id, Tick deadline) { handles_[id] = wheel_.schedule(deadline, id); }
    void stop(Id id) {
        if (!wheel_.cancel(handles_[id])) std::abort();
    }
    void move(Id id, Tick deadline) {
        if (!wheel_.reschedule(handles_[id], deadline)) std::abort();
    }
    void advance(Tick now) { static_cast<void>(advance_some(now, TimingWheel::kUnlimited)); }
    bool advance_some(Tick now, std::size_t budget) {
        wheel_.advance_to(
            now, [this](std::uint64_t cookie, Tick) { fired_(static_cast<Id>(cookie)); }, budget);
        return wheel_.caught_up();
    }
    Tick next() { return wheel_.next_expiry(); }

  protected:
    TimingWheel& wheel() { return wheel_; }
    TimerHandle handle(Id id) const { return handles_[id]; }

  private:
    Fired& fired_;
    TimingWheel wheel_;
    std::vector<TimerHandle> handles_;
};

class PostedHandles : public Handles {
  public:
    using Handles::Handles;
    void stop(Id id) { wheel().cancel_posted(handle(id)); }
};

// Links is IntrusiveLinks, or IntrusiveTimer: timers that cancel themselves when they are destroyed.
template <class Links>
class Members {
  public:
    static constexpr std::size_t kCallerBytes = 0;

    Members(Id ids, Fired& fired) : fired_(fired), timers_(ids) {}
    Members(const Members&) = delete;
    Members& operator=(const Members&) = delete;
    ~Members() { wheel_.clear(); }

    void start(Id id, Tick deadline) { wheel_.schedule(timers_[id], deadline); }
    void stop(Id id) { wheel_.cancel(timers_[id]); }
    void move(Id id, Tick deadline) { wheel_.schedule(timers_[id], deadline); }
    void advance(Tick now) { static_cast<void>(advance_some(now, IntrusiveTimingWheel<Timer>::kUnlimited)); }
    bool advance_some(Tick now, std::size_t budget) {
        wheel_.advance_to(
            now, [this](Timer& timer) { fired_(static_cast<Id>(&timer - timers_.data())); }, budget);
        return wheel_.caught_up();
    }
    Tick next() { return wheel_.next_expiry(); }

  private:
    struct Timer : Links {};

    Fired& fired_;
    std::vector<Timer> timers_;
    IntrusiveTimingWheel<Timer> wheel_;
};

// A binary heap from which nothing is taken out of the middle: a cancelled entry has an old version and is dropped when
// it comes to the top. When more than half are old, they are thrown out together, as otherwise memory grows with every
// pair.
class LazyHeap {
  public:
    static constexpr std::size_t kCallerBytes = 0;

    // As many entries as there can ever be: half of them old, and one.
    LazyHeap(Id ids, Fired& fired) : fired_(fired), versions_(ids) { heap_.reserve(2 * std::size_t{ids} + 1); }

    void start(Id id, Tick deadline) {
        heap_.push_back(Entry{deadline, id, versions_[id]});
        std::push_heap(heap_.begin(), heap_.end(), later);
    }
    void stop(Id id) {
        ++versions_[id];
        if (++old_ > heap_.size() / 2) throw_out();
    }
    void move(Id id, Tick deadline) {
        stop(id);
        start(id, deadline);
    }
    void advance(Tick now) { static_cast<void>(advance_some(now, ~std::size_t{0})); }
    bool advance_some(Tick now, std::size_t budget) {
        for (; !heap_.empty() && heap_.front().deadline <= now; --budget) {
            if (budget == 0) return false;
            const Entry entry = heap_.front();
            std::pop_heap(heap_.begin(), heap_.end(), later);
            heap_.pop_back();
            if (is_old(entry)) {
                --old_;
            } else {
                ++versions_[entry.id];
                fired_(entry.id);
            }
        }
        return true;
    }
    // What is old is thrown out of the top first.
    Tick next() {
        while (!heap_.empty() && is_old(heap_.front())) {
            std::pop_heap(heap_.begin(), heap_.end(), later);
            heap_.pop_back();
            --old_;
        }
        return heap_.empty() ? kNothing : heap_.front().deadline;
    }

  private:
    struct Entry {
        Tick deadline;
        Id id;
        std::uint32_t version;
    };
    static bool later(const Entry& a, const Entry& b) { return a.deadline > b.deadline; }
    bool is_old(const Entry& entry) const { return versions_[entry.id] != entry.version; }
    void throw_out() {
        std::erase_if(heap_, [this](const Entry& entry) { return is_old(entry); });
        std::make_heap(heap_.begin(), heap_.end(), later);
        old_ = 0;
    }

    Fired& fired_;
    std::vector<Entry> heap_;
    std::vector<std::uint32_t> versions_;
    std::size_t old_ = 0;
};

class OrderedMap {
  public:
    static constexpr std::size_t kCallerBytes = sizeof(std::multimap<Tick, Id>::iterator);

    OrderedMap(Id ids, Fired& fired) : fired_(fired), places_(ids) {}
    void start(Id id, Tick deadline) { places_[id] = timers_.emplace(deadline, id); }
    void stop(Id id) { timers_.erase(places_[id]); }
    void move(Id id, Tick deadline) {
        auto node = timers_.extract(places_[id]);
        node.key() = deadline;
        places_[id] = timers_.insert(std::move(node));
    }
    void advance(Tick now) { static_cast<void>(advance_some(now, ~std::size_t{0})); }
    bool advance_some(Tick now, std::size_t budget) {
        for (; !timers_.empty() && timers_.begin()->first <= now; --budget) {
            if (budget == 0) return false;
            const Id id = timers_.begin()->second;
            timers_.erase(timers_.begin());
            fired_(id);
        }
        return true;
    }
    Tick next() { return timers_.empty() ? kNothing : timers_.begin()->first; }

  private:
    Fired& fired_;
    std::multimap<Tick, Id> timers_;
    std::vector<std::multimap<Tick, Id>::iterator> places_;
};

}  // namespace

int run(const Arguments& arguments) {
    if (arguments.subject == "duewheel") {
        run_subject<OwnIds>(arguments);
    } else if (arguments.subject == "duewheel-handles") {
        run_subject<Handles>(arguments);
    } else if (arguments.subject == "duewheel-posted") {
        run_subject<PostedHandles>(arguments);
    } else if (arguments.subject == "duewheel-intrusive") {
        run_subject<Members<IntrusiveLinks>>(arguments);
    } else if (arguments.subject == "duewheel-self-cancelling") {
        run_subject<Members<IntrusiveTimer>>(arguments);
    } else if (arguments.subject == "heap") {
        run_subject<LazyHeap>(arguments);
    } else if (arguments.subject == "multimap") {
        run_subject<OrderedMap>(arguments);
    } else {
        std::fprintf(stderr, "no subject %s\n", arguments.subject.c_str());
        return 2;
    }
    return 0;
}

}  // namespace duewheel::bench

int main(int count, char** words) {
    return duewheel::bench::run(duewheel::bench::parse(count, words));
}

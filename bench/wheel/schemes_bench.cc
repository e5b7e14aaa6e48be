// Every scheme of the literature (wheel/schemes) under the workloads of workload.h. The wheels that have a size get one
// that holds the workloads' timeouts; the hashed ones keep the sizes they are known with.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <vector>

#include "schemes/every_scheme.h"
#include "wheel/workload.h"

namespace duewheel::bench {
namespace {

template <class Queue>
Queue* make_queue(Id ids) {
    if constexpr (std::is_same_v<Queue, SimpleWheel>) {
        return new SimpleWheel(0, std::bit_ceil(std::max<std::size_t>(1 << 17, ids + 1)));
    } else {
        return new Queue(0);
    }
}

template <class Queue>
class SchemeSubject {
  public:
    static constexpr std::size_t kCallerBytes = sizeof(TimerHandle);

    SchemeSubject(Id ids, Fired& fired) : fired_(fired), queue_(make_queue<Queue>(ids)), handles_(ids) {}
    void start(Id id, Tick deadline) { handles_[id] = queue_->schedule(deadline, id); }
    void stop(Id id) {
        if (!queue_->cancel(handles_[id])) std::abort();
    }
    void move(Id id, Tick deadline) {
        if (!queue_->reschedule(handles_[id], deadline)) std::abort();
    }
    void advance(Tick now) {
        queue_->advance_to(now, [this](std::uint64_t cookie, Tick) { fired_(static_cast<Id>(cookie)); });
    }

  private:
    Fired& fired_;
    std::unique_ptr<Queue> queue_;
    std::vector<TimerHandle> handles_;
};

int run(const Arguments& arguments) {
    bool found = false;
    visit_every_scheme([&](std::string_view name, auto type) {
        if (name != arguments.subject) return;
        found = true;
        run_subject<SchemeSubject<typename decltype(type)::type>>(arguments);
    });
    if (!found) std::fprintf(stderr, "no scheme %s\n", arguments.subject.c_str());
    return found ? 0 : 2;
}

}  // namespace
}  // namespace duewheel::bench

int main(int count, char** words) {
    return duewheel::bench::run(duewheel::bench::parse(count, words));
}

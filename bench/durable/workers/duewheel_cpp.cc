// A process that puts COUNT messages and handles them, with the C++ client: URL COUNT CONCURRENCY.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include <duewheel/client/boost_json.h>
#include <duewheel/client/worker.h>

namespace dw = duewheel::client;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

struct Payload {
    std::size_t n = 0;
    std::string pad;
};
BOOST_DESCRIBE_STRUCT(Payload, (), (n, pad))

namespace {

constexpr std::size_t kBatch = 500;

// Checks that each message is handled once.
class Ledger {
  public:
    explicit Ledger(std::size_t count) : seen_(count), left_(count) {}

    void handled(std::size_t n) {
        const std::lock_guard lock(mutex_);
        if (seen_[n]) {
            ++repeats_;
            return;
        }
        seen_[n] = true;
        if (--left_ == 0) done_.notify_all();
    }

    std::size_t wait() {
        std::unique_lock lock(mutex_);
        if (!done_.wait_for(lock, 2min, [this] { return left_ == 0; })) {
            std::fprintf(stderr, "%zu of %zu jobs were not handled within 120 s\n", left_, seen_.size());
            std::exit(1);
        }
        return repeats_;
    }

  private:
    std::mutex mutex_;
    std::condition_variable done_;
    std::vector<bool> seen_;
    std::size_t left_;
    std::size_t repeats_ = 0;
};

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

int main(int, char** arguments) {
    const std::size_t count = std::stoul(arguments[2]);
    Ledger ledger(count);
    dw::Client client(arguments[1]);
    const auto jobs = client.queue<Payload>("jobs");
    dw::Worker worker(client);
    worker.handle(jobs, [&](dw::Job<Payload>& job) { ledger.handled(job.data.n); },
                  {.concurrency = std::atoi(arguments[3])});
    worker.start().value();
    const Clock::time_point start = Clock::now();
    for (std::size_t n = 0; n < count;) {
        std::vector<Payload> batch;
        while (batch.size() < kBatch && n < count)
            batch.push_back({n++, std::string(180, 'x')});  // about 200 bytes with the rest
        jobs.put_all(batch).value();
    }
    const double put = seconds_since(start);
    const std::size_t repeats = ledger.wait();
    worker.stop();  // when all is acknowledged
    std::printf("{\"put_s\": %f, \"all_s\": %f, \"repeats\": %zu}\n", put, seconds_since(start), repeats);
}

// What chaos_test.py disturbs: `put COUNT URL` puts messages, and `work URL` handles them until SIGTERM. Both print the
// id of each on a line: a put after its response, a handler before its message is acknowledged.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <thread>
#include <vector>

#include "duewheel/client/worker.h"

using namespace std::chrono_literals;
using namespace duewheel::client;

namespace {

constexpr int kPutters = 5;
constexpr int kConcurrency = 10;

void print(const std::string& id) {
    std::printf("%s\n", id.c_str());
    std::fflush(stdout);
}

int put(const Client& client, int count) {
    std::atomic<int> left = count;
    std::vector<std::jthread> putters;
    for (int i = 0; i < kPutters; ++i) {
        putters.emplace_back([&] {
            while (left-- > 0) print(client.put("chaos", "x").value().id);
        });
    }
    return 0;
}

int work(const Client& client) {
    Worker worker(client, {.log = [](LogLevel, const std::string&) {}});
    worker.handle<std::string>("chaos",
                               [](Job<std::string>& job) {
                                   thread_local std::minstd_rand random{std::random_device()()};
                                   std::this_thread::sleep_for(std::chrono::milliseconds(random() % 20));
                                   print(job.lease().id);
                               },
                               {.concurrency = kConcurrency, .lease = 2s});
    return worker.run() ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
    if (count == 4 && std::string_view(words[1]) == "put") {
        return put(Client(words[3], {.timeout = 60s}), std::atoi(words[2]));
    }
    if (count == 3 && std::string_view(words[1]) == "work") return work(Client(words[2]));
    std::fputs("chaos put COUNT URL | work URL\n", stderr);
    return 2;
}

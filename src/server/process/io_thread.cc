#include "server/process/io_thread.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error_codes.h"
#include "server/shard/worker.h"

namespace duewheel {

// One processor is for the engine. With two, the other one has enough to do with commits, the index and the clients.
std::size_t io_thread_count(std::optional<std::uint64_t> configured) {
    constexpr std::size_t kMax = 8;
    if (configured) return static_cast<std::size_t>(*configured);
    const std::size_t processors = std::thread::hardware_concurrency();
    return processors <= 2 ? 0 : std::min(processors - 1, kMax);
}

Result<std::shared_ptr<void>> start_io_thread(const std::string& name, std::function<void()> run) {
    try {
        const auto thread = std::make_shared<Worker>(name);
        thread->run(std::move(run));
        return std::shared_ptr<void>(thread);
    } catch (const std::system_error& error) {
        return Error{"io_error"_code, "cannot start the I/O thread " + name + ": " + error.code().message() +
                                          "; lower io.threads, or raise the limit on threads"};
    }
}

}  // namespace duewheel

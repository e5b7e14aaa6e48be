#include "server/process/last_resort.h"

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include <unistd.h>

#include "server/shard/run_record.h"

namespace duewheel {
namespace {

// Above the threshold from which blocks are returned to the system when they are freed.
constexpr std::size_t kReserveBytes = std::size_t{1} << 20;
constexpr std::string_view kOutOfMemory =
    "The process cannot get more memory, and stops. Every change that it has acknowledged is on disk. Give it more "
    "memory "
    "(MemoryMax= in the systemd unit, ulimit -v), or lower limits such as http.unfinished_max and limits.leased_max.";

// The handlers have no arguments.
LogSink* log_of_the_end = nullptr;
std::atomic<RunRecord*> run_of_the_end = nullptr;
std::unique_ptr<std::byte[]> spare_memory;
std::atomic<bool> is_ending = false;
thread_local bool ends_process = false;

[[noreturn]] void end(std::string_view code, std::string_view message) {
    if (ends_process) {  // there is no memory even for the line
        constexpr std::string_view kLine = "error fatal_error: out of memory\n";
        static_cast<void>(!::write(STDERR_FILENO, kLine.data(), kLine.size()));
        _exit(kExitFatalError);
    }
    while (is_ending.exchange(true)) ::pause();  // another thread does it
    ends_process = true;
    spare_memory.reset();
    log_of_the_end->error("fatal_error", message, {{"code", code}});
    if (RunRecord* run = run_of_the_end) run->fail();
    _exit(kExitFatalError);
}

void on_failed_allocation() {
    end("out_of_memory", kOutOfMemory);
}

void on_exception() {
    try {
        if (const std::exception_ptr current = std::current_exception()) std::rethrow_exception(current);
        end("internal_error", "A thread ended without an exception; this is a bug.");
    } catch (const std::bad_alloc&) {
        end("out_of_memory", kOutOfMemory);
    } catch (const std::system_error& error) {
        const bool lacks =
            error.code() == std::errc::resource_unavailable_try_again || error.code() == std::errc::not_enough_memory;
        if (lacks)
            end("out_of_memory", "A thread cannot be started: the process lacks memory, or may have no more threads.");
        end("internal_error", error.what());
    } catch (const std::exception& error) {
        end("internal_error", std::string("An unexpected exception, which is a bug: ") + error.what());
    } catch (...) {
        end("internal_error", "An unexpected exception, which is a bug.");
    }
}

}  // namespace

void end_with_one_line(LogSink& log) {
    log_of_the_end = &log;
    spare_memory = std::make_unique_for_overwrite<std::byte[]>(kReserveBytes);
    std::set_new_handler(on_failed_allocation);
    std::set_terminate(on_exception);
}

void record_last_resort_in(RunRecord* run) {
    run_of_the_end = run;
}

}  // namespace duewheel

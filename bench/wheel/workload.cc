#include "wheel/workload.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace duewheel::bench {
namespace {

// Past the C library: a peer's program puts its own clock_gettime() in front.
double seconds_of(clockid_t clock) {
    timespec time{};
    ::syscall(SYS_clock_gettime, clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

[[noreturn]] void usage(const char* program) {
    std::fprintf(stderr, "usage: %s SUBJECT WORKLOAD N [--quick] [--check]\n", program);
    std::exit(2);
}

}  // namespace

double wall_seconds() {
    return seconds_of(CLOCK_MONOTONIC);
}

double cpu_seconds() {
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

void no_workload(const std::string& name) {
    std::fprintf(stderr, "there is no workload %s for this subject\n", name.c_str());
    std::exit(2);
}

std::size_t resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    std::size_t size = 0;
    std::size_t resident = 0;
    statm >> size >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::vector<double> quantiles(std::vector<float> samples) {
    if (samples.empty()) return {};
    std::sort(samples.begin(), samples.end());
    std::vector<double> result;
    for (const double quantile : {0.5, 0.99, 0.999, 0.99999}) {
        result.push_back(samples[static_cast<std::size_t>(quantile * static_cast<double>(samples.size() - 1))]);
    }
    result.push_back(samples.back());
    return result;
}

Arguments parse(int count, char** words) {
    if (count < 4) usage(words[0]);
    Arguments arguments;
    arguments.subject = words[1];
    arguments.workload = words[2];
    arguments.n = static_cast<Id>(std::strtoul(words[3], nullptr, 10));
    for (int i = 4; i < count; ++i) {
        const std::string option = words[i];
        arguments.quick = arguments.quick || option == "--quick";
        arguments.checks = arguments.checks || option == "--check";
        if (option != "--quick" && option != "--check") usage(words[0]);
    }
    if (arguments.n == 0) usage(words[0]);
    return arguments;
}

void print_outcome(const Arguments& arguments, const Outcome& outcome) {
    std::printf(
        "{\"subject\": \"%s\", \"workload\": \"%s\", \"n\": %u, \"wall_ns\": %.4f, \"cpu_ns\": %.4f, "
        "\"fired\": %llu, \"sum\": \"%016llx\", \"early\": %llu, \"latest\": %llu, \"bytes\": %.2f, "
        "\"bytes_after\": %.2f, \"quantiles_ns\": [",
        arguments.subject.c_str(), arguments.workload.c_str(), arguments.n, outcome.wall_ns, outcome.cpu_ns,
        static_cast<unsigned long long>(outcome.fired), static_cast<unsigned long long>(outcome.sum),
        static_cast<unsigned long long>(outcome.early), static_cast<unsigned long long>(outcome.latest), outcome.bytes,
        outcome.bytes_after);
    const char* separator = "";
    for (const double quantile : outcome.quantiles_ns) {
        std::printf("%s%.0f", separator, quantile);
        separator = ", ";
    }
    std::printf("]}\n");
}

}  // namespace duewheel::bench

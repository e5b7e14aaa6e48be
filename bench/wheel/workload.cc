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

template <class Number>
void print_list(const char* name, const std::vector<Number>& numbers) {
    std::printf(", \"%s\": [", name);
    const char* separator = "";
    for (const Number number : numbers) {
        std::printf("%s%.2f", separator, static_cast<double>(number));
        separator = ", ";
    }
    std::printf("]");
}

}  // namespace

double wall_seconds() {
    return seconds_of(CLOCK_MONOTONIC);
}

double cpu_seconds() {
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

void fail(const char* what) {
    std::fprintf(stderr, "%s\n", what);
    std::exit(3);
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
        "\"bytes_after\": %.2f",
        arguments.subject.c_str(), arguments.workload.c_str(), arguments.n, outcome.wall_ns, outcome.cpu_ns,
        static_cast<unsigned long long>(outcome.fired), static_cast<unsigned long long>(outcome.sum),
        static_cast<unsigned long long>(outcome.early), static_cast<unsigned long long>(outcome.latest), outcome.bytes,
        outcome.bytes_after);
    print_list("quantiles_ns", outcome.quantiles_ns);
    print_list("wake_ups", outcome.wake_ups);
    print_list("growth_ns", outcome.growth_ns);
    std::printf("}\n");
}

}  // namespace duewheel::bench

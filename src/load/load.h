// The runs of a load generator: the work of `duewheel bench` and the benchmarks, and its results.
//
//     put     puts of messages due far ahead, single or in batches; measures how many per second are on disk
//     fire    messages due soon at a steady rate, leased when they become due; measures lateness, and if any is early.
//             Messages that were due in the queue before the run are leased too, and counted separately
//     cycle   put, lease and acknowledge in batches, as fast as possible
//     drain   leases and acknowledges until the queue is empty, or until a number of messages
//     cancel  puts, and a second later cancels all but every hundredth
//     ask     the same GET repeatedly
//
// One thread; a run owns its connections. Bodies are random and all differ, so that the disk cannot compress them.
#pragma once

#include <cstdint>
#include <string>

#include "base/histogram.h"
#include "base/status.h"

namespace duewheel {

struct LoadOptions {
    std::string server = "http://127.0.0.1:7420";  // or beanstalk://HOST:PORT, for put and cancel
    std::string token;                             // sent as `Authorization: Bearer`; empty: none
    std::string queue_path = "/v1/queues/bench";   // percent-encoded, with its namespace
    std::string ask_path = "/healthz";
    std::uint64_t connections = 4;
    std::uint64_t takers = 4;        // connections of cycle and fire that lease and acknowledge
    std::uint64_t batch = 1;         // messages in one put; 1 puts without the batch call
    std::uint64_t take_batch = 100;  // maximum number of messages in one lease or acknowledgement
    std::uint64_t pipeline = 1;      // requests in flight on each connection
    std::int64_t run_ms = 10'000;
    std::uint64_t count = 0;    // ends put, drain and ask after this number; 0: after the time
    std::uint64_t rate = 2000;  // of fire, messages a second
    std::int64_t delay_min_ms = 3'600'000;
    std::int64_t delay_max_ms = 86'400'000;
    std::int64_t due_ms = 0;  // of put: all are due at this time instead; 0: after a delay
    std::uint64_t body_bytes = 200;
    std::uint64_t groups = 0;  // the messages are put into this number of groups in turns; 0: into none
    std::uint64_t seed = 1;
};

struct LoadReport {
    double seconds = 0;
    std::uint64_t accepted = 0;  // puts
    std::uint64_t refused = 0;   // messages or requests
    std::string refusal;         // the error of the first of them
    std::uint64_t taken = 0;
    std::uint64_t acknowledged = 0;  // durable ends: acknowledgements, or cancels
    std::uint64_t answered = 0;      // requests
    std::uint64_t early = 0;         // delivered early, by the server's clock or by ours
    Histogram took_us;               // each request of puts and asks
    std::uint64_t behind = 0;        // of fire: leased, and due before the run
    double first_taken_seconds = 0;  // from the start of the run to the first lease; 0: none
    Histogram late_ms;  // each message leased, except those due before, from its due time until it came, by our clock
    double client_cpu_seconds = 0;
};

// Errors: bad_address, unreachable, bad_answer, and refused if the run cannot continue without the refused request.
Result<LoadReport> load_put(const LoadOptions& options);
Result<LoadReport> load_fire(const LoadOptions& options);
Result<LoadReport> load_cycle(const LoadOptions& options);
Result<LoadReport> load_drain(const LoadOptions& options);
Result<LoadReport> load_cancel(const LoadOptions& options);
Result<LoadReport> load_ask(const LoadOptions& options);

}  // namespace duewheel

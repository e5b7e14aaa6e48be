// The runs of a load program: what `duewheel bench` and the benchmarks do to a server, and what came of it.
//
//     put     messages due far ahead, one a request or many in one; how many a second were on disk
//     fire    messages due soon at a steady rate, taken as they fall due; how late they come, and whether any is early.
//             What was due in the queue before the run is taken too, and counted apart
//     cycle   put, taken and acknowledged in batches, as fast as it goes
//     drain   takes and acknowledges until the queue is empty, or until so many were taken
//     cancel  puts, and cancels all but each hundredth a second later
//     ask     one and the same GET again and again
//
// One thread; a run owns its connections. Bodies are random and all differ, so that no disk can fold them together.
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
    std::uint64_t takers = 4;        // connections of cycle and fire that take and acknowledge
    std::uint64_t batch = 1;         // messages in one put; 1 puts without the batch call
    std::uint64_t take_batch = 100;  // messages in one lease or acknowledgement, at most
    std::uint64_t pipeline = 1;      // requests on their way on each connection
    std::int64_t run_ms = 10'000;
    std::uint64_t count = 0;    // ends put, drain and ask after so many instead; 0: after the time
    std::uint64_t rate = 2000;  // of fire, messages a second
    std::int64_t delay_min_ms = 3'600'000;
    std::int64_t delay_max_ms = 86'400'000;
    std::int64_t due_ms = 0;  // of put: all are due at this time instead; 0: after a delay
    std::uint64_t body_bytes = 200;
    std::uint64_t seed = 1;
};

struct LoadReport {
    double seconds = 0;
    std::uint64_t accepted = 0;  // puts
    std::uint64_t refused = 0;   // messages or requests
    std::string refusal;         // what the first of them was told
    std::uint64_t taken = 0;
    std::uint64_t acknowledged = 0;  // durable ends: acknowledgements, or cancels
    std::uint64_t answered = 0;      // requests
    std::uint64_t early = 0;         // handed out before their time, by the server's clock or by ours
    Histogram took_us;               // each request of puts and asks
    std::uint64_t behind = 0;        // of fire: taken, and due before the run
    double first_taken_seconds = 0;  // from the begin of the run to the first message taken; 0: none was
    Histogram late_ms;  // each message taken but those behind, from its due time until it came, by our clock
    double client_cpu_seconds = 0;
};

// Errors: bad_address, unreachable, bad_answer, and refused where the run cannot go on without what was refused.
Result<LoadReport> load_put(const LoadOptions& options);
Result<LoadReport> load_fire(const LoadOptions& options);
Result<LoadReport> load_cycle(const LoadOptions& options);
Result<LoadReport> load_drain(const LoadOptions& options);
Result<LoadReport> load_cancel(const LoadOptions& options);
Result<LoadReport> load_ask(const LoadOptions& options);

}  // namespace duewheel

// Runs a few threads in every order that matters: the systematic search for what a race can do.
//
// The threads are real, but one runs at a time; at each interleaving_point() the explorer decides which continues. A
// run is a list of decisions, and the explorer goes through all lists in which at most `preemptions` times a thread is
// interrupted that could have gone on, as in M. Musuvathi and S. Qadeer, "Iterative context bounding for systematic
// testing of multithreaded programs" (PLDI 2007): almost all known races need one or two.
//
// It explores sequentially consistent orders; what weaker memory orders may do besides is the thread sanitizer's part.
// Nothing is random, so a failure comes again, and its list of decisions is printed.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace duewheel {

// One scenario: the bodies of its threads, and what must hold when all have returned.
struct Interleaved {
    std::vector<std::function<void()>> threads;
    std::function<void()> check;
};

struct Exploration {
    std::size_t runs = 0;
    std::size_t decisions = 0;     // in all runs together
    std::vector<unsigned> failed;  // the decisions of the first run that failed; empty: none did
    std::string problem;
    bool is_complete = true;  // false: it stopped at `runs_max`
};

// Makes a new scenario for each run with `make`. `fails` says whether the check of a run has failed, such as
// testing::Test::HasFailure; the exploration ends there. A run in which no thread can continue also fails, and its
// threads are left as they are, so the process is not good for much afterwards.
Exploration explore(const std::function<Interleaved()>& make, unsigned preemptions, const std::function<bool()>& fails,
                    std::size_t runs_max = 400'000);

}  // namespace duewheel

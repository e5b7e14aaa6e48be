// What a fuzz target is: one function that takes bytes as they may come from outside, and judges what comes of them.
//
// Each target is a file of its own with one definition of fuzz(). Around it stands either libFuzzer, which makes up the
// bytes (libfuzzer_entry.cc), or a program that plays recorded ones again (replay_main.cc). That nothing crashes is the
// least that is asked; require() says what else has to hold. docs/fuzzing.md lists what is asked of each surface.
//
// A target keeps nothing between two calls: the same bytes give the same verdict.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace duewheel {

// Treats one input. The bytes are gone when it returns.
void fuzz(std::string_view input);

// Ends the process, in every build, where something does not hold.
inline void require(bool holds, std::string_view what, std::string_view detail = "") {
    if (holds) return;
    std::fprintf(stderr, "fuzz: %.*s %.*s\n", static_cast<int>(what.size()), what.data(),
                 static_cast<int>(detail.size()), detail.data());
    std::abort();
}

}  // namespace duewheel

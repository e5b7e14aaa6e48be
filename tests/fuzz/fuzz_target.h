// What a fuzz target is: a file NAME_fuzz.cc with a function `void fuzz(std::string_view input)` in the namespace
// duewheel::NAME_fuzz, which takes bytes as they may come from outside and checks what the code makes of them. The
// bytes are gone when it returns.
//
// The function is called either by libFuzzer, which makes up the bytes (libfuzzer_entry.cc, one program a target), or
// by a program that replays recorded ones (replay_main.cc, one program for all). Not crashing is the least that is
// expected; require() states what else must hold. docs/fuzzing.md lists what is checked of each surface.
//
// A target keeps nothing between two calls: the same bytes give the same result.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace duewheel {

// Ends the process, in every build, where something does not hold.
inline void require(bool holds, std::string_view what, std::string_view detail = "") {
    if (holds) return;
    std::fprintf(stderr, "fuzz: %.*s %.*s\n", static_cast<int>(what.size()), what.data(),
                 static_cast<int>(detail.size()), detail.data());
    std::abort();
}

}  // namespace duewheel

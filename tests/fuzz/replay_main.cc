// Replays recorded inputs, with any compiler: a fault that a fuzzer found once stays found.
//
//     fuzz_replay TARGET FILE-OR-FOLDER...
//
// A failed check ends the process, after the name of the input that led to it. No input at all is a failure too: a
// corpus looked for in the wrong place would test nothing.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

// fuzz_targets.inc, written by CMake, has a line DUEWHEEL_FUZZ_TARGET(name) for each target.
#define DUEWHEEL_FUZZ_TARGET(name)         \
    namespace duewheel::name##_fuzz {      \
        void fuzz(std::string_view input); \
    }
#include "fuzz_targets.inc"
#undef DUEWHEEL_FUZZ_TARGET

namespace {

struct Target {
    std::string_view name;
    void (*fuzz)(std::string_view input);
};

constexpr Target kTargets[] = {
#define DUEWHEEL_FUZZ_TARGET(name) {#name, duewheel::name##_fuzz::fuzz},
#include "fuzz_targets.inc"
#undef DUEWHEEL_FUZZ_TARGET
};

std::vector<std::filesystem::path> inputs_in(const std::filesystem::path& path) {
    if (!std::filesystem::is_directory(path)) return {path};
    std::vector<std::filesystem::path> inputs;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
        if (entry.is_regular_file()) inputs.push_back(entry.path());
    }
    std::sort(inputs.begin(), inputs.end());
    return inputs;
}

}  // namespace

int main(int count, char** arguments) {
    const std::string_view name = count > 1 ? arguments[1] : "";
    const auto target = std::find_if(std::begin(kTargets), std::end(kTargets),
                                     [name](const Target& each) { return each.name == name; });
    if (target == std::end(kTargets)) {
        std::fprintf(stderr, "usage: fuzz_replay TARGET FILE-OR-FOLDER...\nThe targets are:");
        for (const Target& each : kTargets) std::fprintf(stderr, " %s", each.name.data());
        std::fprintf(stderr, "\n");
        return 2;
    }
    std::size_t played = 0;
    for (int i = 2; i < count; ++i) {
        for (const std::filesystem::path& path : inputs_in(arguments[i])) {
            std::ifstream file(path, std::ios::binary);
            if (!file) {
                std::fprintf(stderr, "%s cannot be read\n", path.c_str());
                return 1;
            }
            const std::string input{std::istreambuf_iterator<char>(file), {}};
            // Before it is played: after a crash the last name is the one to look at.
            std::fprintf(stderr, "%s\n", path.c_str());
            target->fuzz(input);
            ++played;
        }
    }
    std::fprintf(stderr, "%zu inputs played\n", played);
    return played == 0 ? 1 : 0;
}

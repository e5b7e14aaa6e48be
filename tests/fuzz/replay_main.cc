// Plays recorded inputs again, with any compiler: what a fuzzer once found stays found.
//
//     lease_token_fuzz FILE-OR-FOLDER...
//
// A verdict ends the process, after the name of the input that led to it. No input at all is a failure too: a corpus
// that is looked for in the wrong place would test nothing.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/fuzz_target.h"

namespace {

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
    std::size_t played = 0;
    for (int i = 1; i < count; ++i) {
        for (const std::filesystem::path& path : inputs_in(arguments[i])) {
            std::ifstream file(path, std::ios::binary);
            if (!file) {
                std::fprintf(stderr, "%s cannot be read\n", path.c_str());
                return 1;
            }
            const std::string input{std::istreambuf_iterator<char>(file), {}};
            // Before it is played: after a crash the last name is the one to look at.
            std::fprintf(stderr, "%s\n", path.c_str());
            duewheel::fuzz(input);
            ++played;
        }
    }
    std::fprintf(stderr, "%zu inputs played\n", played);
    return played == 0 ? 1 : 0;
}

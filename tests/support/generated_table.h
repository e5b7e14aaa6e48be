// A page whose table is generated from the code: the test fails if they differ. With DUEWHEEL_RECORD=1 in the
// environment it writes the page again.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace duewheel {

// The table lies between `begin`, which names its source, and the mark of its end.
inline void expect_table_in_page(const std::string& path, std::string_view begin, std::string_view table) {
    constexpr std::string_view kEnd = "\n<!-- The end of what is made. -->";
    std::ifstream file(path, std::ios::binary);
    const std::string page(std::istreambuf_iterator<char>(file), {});
    const std::size_t from = page.find(begin);
    ASSERT_NE(from, std::string::npos) << path;
    const std::size_t to = page.find(kEnd, from);
    ASSERT_NE(to, std::string::npos) << path;
    std::string wanted = page;
    wanted.replace(from + begin.size(), to - from - begin.size(), table);
    if (std::getenv("DUEWHEEL_RECORD") != nullptr) {
        std::ofstream(path, std::ios::binary) << wanted;
        return;
    }
    EXPECT_TRUE(page == wanted) << path << " is not what the table says: write it again with DUEWHEEL_RECORD=1";
}

}  // namespace duewheel

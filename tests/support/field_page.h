// The table of members of a resource on a page of the documentation, made from its table of fields.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "resource/field.h"
#include "support/generated_table.h"

namespace duewheel {

// Whether the table has a line for the row. A row of an answer can do without, as `id`; a row inside of another one's
// member, as `target.webhook`, is on that one's line.
inline bool needs_page(const FieldTable& table, const Field& row) {
    const auto contains_it = [&](const Field& each) { return !row.group().empty() && each.path == row.group(); };
    return !row.path.empty() && !row.is_answer && std::none_of(table.rows().begin(), table.rows().end(), contains_it);
}

inline std::string member_table(const FieldTable& table, std::string_view heading) {
    std::string page = "\n\n| " + std::string(heading) + " | |\n|---|---|\n";
    for (const Field& row : table.rows()) {
        EXPECT_TRUE(!row.page.empty() || !needs_page(table, row)) << row.path << " needs a `page` in its row";
        if (row.page.empty()) continue;
        page.append("| `").append(row.path).append("`");
        if (row.is_answer && row.is_time()) page.append(", `").append(row.path).append("_ms`");
        page.append(" | ").append(row.page).append(" |\n");
    }
    return page;
}

// `source`: the file with the rows, as the page names it.
inline void expect_member_table(const FieldTable& table, const std::string& page, const std::string& source,
                                std::string_view heading = "member") {
    expect_table_in_page(std::string(DUEWHEEL_SOURCE_DIR "/docs/") + page, "<!-- Made from " + source + ". -->",
                         member_table(table, heading));
}

}  // namespace duewheel

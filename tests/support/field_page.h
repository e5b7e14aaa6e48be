// The table of members of a resource on a page of the documentation, made from its table of fields.
#pragma once

#include <string>

#include "resource/field.h"
#include "support/generated_table.h"

namespace duewheel {

inline std::string member_table(const FieldTable& table, std::string_view heading) {
    std::string page = "\n\n| " + std::string(heading) + " | |\n|---|---|\n";
    for (const Field& row : table.rows()) {
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

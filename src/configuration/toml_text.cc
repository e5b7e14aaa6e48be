#include "configuration/toml_text.h"

#include <algorithm>
#include <tuple>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace duewheel {
namespace {

TomlPlace place_of(const toml::source_region& source) {
    return {source.begin.line, source.begin.column};
}

TomlValue value_of(const toml::array& array) {
    std::vector<std::string> texts;
    for (const toml::node& element : array) {
        const auto* text = element.as_string();
        if (text == nullptr) return TomlOther{"a list of other things than texts"};
        texts.push_back(text->get());
    }
    return texts;
}

TomlValue value_of(const toml::node& node) {
    switch (node.type()) {
        case toml::node_type::boolean:
            return node.as_boolean()->get();
        case toml::node_type::integer:
            return node.as_integer()->get();
        case toml::node_type::string:
            return node.as_string()->get();
        case toml::node_type::array:
            return value_of(*node.as_array());
        case toml::node_type::table:
            return TomlSection{};
        case toml::node_type::floating_point:
            return TomlOther{"a fraction"};
        default:
            return TomlOther{"a date or time"};
    }
}

void collect(const toml::table& table, const std::string& prefix, std::vector<TomlEntry>& into) {
    for (const auto& [key, node] : table) {
        TomlEntry entry;
        entry.name = prefix + std::string(key.str());
        entry.key = place_of(key.source());
        entry.at = place_of(node.source());
        entry.value = value_of(node);
        into.push_back(entry);
        if (const toml::table* inner = node.as_table()) collect(*inner, entry.name + ".", into);
    }
}

}  // namespace

TomlText parse_toml(std::string_view text) {
    TomlText parsed;
    const toml::parse_result result = toml::parse(text);
    if (!result) {
        parsed.wrong = result.error().description();
        parsed.wrong_at = place_of(result.error().source());
        return parsed;
    }
    collect(result.table(), "", parsed.entries);
    // Tables are kept in the order of their keys; people read in the order of the file.
    std::stable_sort(parsed.entries.begin(), parsed.entries.end(), [](const TomlEntry& left, const TomlEntry& right) {
        return std::tie(left.key.line, left.key.column) < std::tie(right.key.line, right.key.column);
    });
    return parsed;
}

}  // namespace duewheel

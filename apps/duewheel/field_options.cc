#include "field_options.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <boost/json/parse.hpp>

#include "arguments.h"
#include "base/error_codes.h"
#include "calendar/duration.h"

namespace duewheel {
namespace {

namespace json = boost::json;

std::optional<std::int64_t> whole_number(const std::string& text) {
    std::int64_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    return failed == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// What is wrong with the value; empty: nothing.
std::string wrong_value(const Field& row, const std::string& path, const std::string& text) {
    if (row.kind == FieldKind::duration) {
        const Result<std::int64_t> parsed = parse_duration(text);
        return parsed ? "" : parsed.error().message;
    }
    if (row.kind == FieldKind::decimal) {
        json::error_code broken;
        const json::value number = json::parse(text, broken);
        return broken || !number.is_number() ? "takes a number such as 1.5, not " + text : "";
    }
    if (row.kind == FieldKind::json) {
        json::error_code broken;
        json::parse(text, broken);
        return broken ? "takes JSON such as {\"page\": 7}, not " + text : "";
    }
    if (row.kind == FieldKind::count) {
        const std::int64_t number = whole_number(text).value_or(row.min);
        if (number >= row.min && number <= row.max) return "";
        const std::string least = "`" + path + "` must be ";
        if (row.max == kNoFieldMax) return least + "at least " + std::to_string(row.min);
        return least + "from " + std::to_string(row.min) + " to " + std::to_string(row.max);
    }
    // The server, which knows the policies of other products, says more about a word that is none.
    if (row.kind == FieldKind::word && row.code != "bad_policy"_code &&
        std::find(row.words.begin(), row.words.end(), text) == row.words.end()) {
        std::string choices;
        for (const std::string_view word : row.words) choices.append(choices.empty() ? "" : " or ").append(word);
        return "takes " + choices + ", not " + text;
    }
    return "";
}

const char* value_name(FieldKind kind) {
    if (kind == FieldKind::duration) return "DURATION";
    if (kind == FieldKind::count || kind == FieldKind::decimal) return "NUMBER";
    if (kind == FieldKind::word) return "WORD";
    if (kind == FieldKind::json) return "JSON";
    if (kind == FieldKind::instant) return "TIME";
    return kind == FieldKind::names ? "NAME" : "TEXT";
}

CLI::Option* add_option(CLI::App& verb, const Field& row, const std::string& path) {
    const std::string written(row.option.empty() ? option_of(path) : row.option);
    const std::string names = written.substr(0, written.find(' '));
    std::string help(row.sentence);
    if (!row.is_required && !row.when_absent.empty()) {
        help.append("; default: ").append(row.when_absent.substr(0, row.when_absent.find(',')));
    }
    if (row.kind == FieldKind::flag)
        return verb.add_flag_function(
            names, [](std::int64_t) {}, help);
    if (row.kind == FieldKind::names) help += "; can be repeated";
    const auto accept = [&row, path, name = names.substr(0, names.find(','))](const CLI::results_t& values) {
        for (const std::string& value : values) {
            const std::string wrong = wrong_value(row, path, value);
            if (!wrong.empty()) throw CLI::ValidationError(name, wrong);
            if (row.kind == FieldKind::count && !whole_number(value)) return false;
        }
        return true;
    };
    CLI::Option* option = verb.add_option(names, accept, help);
    option->type_name(names == written ? value_name(row.kind) : written.substr(names.size() + 1));
    if (row.kind == FieldKind::names) {
        option->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args(false);
    }
    return option;
}

json::value value_of(FieldKind kind, const std::vector<std::string>& given) {
    if (kind == FieldKind::flag)
        return given.empty() || CLI::detail::to_flag_value(given.front()) > 0;  // --paused=false
    if (kind == FieldKind::names) {
        json::array names;
        for (const std::string& name : given) names.emplace_back(json_text(name));
        return names;
    }
    const std::string text = given.empty() ? "" : given.front();
    if (kind == FieldKind::count) return whole_number(text).value_or(0);
    return kind == FieldKind::decimal || kind == FieldKind::json ? json::parse(text) : json::value(json_text(text));
}

}  // namespace

void set_member(json::object& request, std::string_view path, json::value value) {
    json::object* at = &request;
    for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
        json::value& inner = (*at)[json::string_view(path.data(), dot)];
        if (!inner.is_object()) inner.emplace_object();
        at = &inner.get_object();
        path.remove_prefix(dot + 1);
    }
    (*at)[json::string_view(path.data(), path.size())] = std::move(value);
}

std::string option_of(std::string_view path) {
    std::string option = "-";
    while (!path.empty()) {
        const std::string_view part = path.substr(0, path.find('.'));
        path.remove_prefix(std::min(part.size() + 1, path.size()));
        if (part != "limits" && part != "target") option.append("-").append(part);
    }
    std::replace(option.begin(), option.end(), '_', '-');
    return option;
}

void FieldOptions::add_to(CLI::App& verb, std::span<const Field> rows, const std::string& within,
                          std::initializer_list<std::string_view> except) {
    for (const Field& row : rows) {
        if (std::find(except.begin(), except.end(), row.path) != except.end()) continue;
        const std::string path = within + std::string(row.path);
        if (row.kind == FieldKind::object) add_to(verb, row.table().rows(), path + ".");
        const bool is_option = !row.path.empty() && row.kind != FieldKind::object && row.kind != FieldKind::by_hand;
        if (is_option && row.option != "-") options_.push_back({&row, path, add_option(verb, row, path)});
    }
}

CLI::Option* FieldOptions::at(std::string_view path) const {
    return std::find_if(options_.begin(), options_.end(), [&](const Given& each) { return each.path == path; })->option;
}

void FieldOptions::put_into(json::object& request) const {
    for (const Given& each : options_) {
        if (each.option->count() != 0) set_member(request, each.path, value_of(each.row->kind, each.option->results()));
    }
}

void SetOptions::add_to(CLI::App& verb, std::span<const Field> rows) {
    CLI::Option* replace =
        verb.add_flag("--replace", replaces, "Replace all settings: those that are not given get their defaults");
    verb.add_option("--unset", removed,
                    "Remove this setting, by its name in the output of `get`, such as limits.pending; can be repeated")
        ->type_name("NAME")
        ->allow_extra_args(false)
        ->excludes(replace);
    fields.add_to(verb, rows);
}

void SetOptions::put_into(json::object& request) const {
    fields.put_into(request);
    for (const std::string& path : removed) set_member(request, path, nullptr);
}

}  // namespace duewheel

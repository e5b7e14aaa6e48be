#include "http_api/requests/query_request.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "base/error_codes.h"
#include "http_api/fields/json_request.h"
#include "message/foreign_names.h"
#include "shared/nearest_name.h"
#include "shared/utf8.h"

namespace duewheel {
namespace {

// A name as it is shown in a problem document.
std::string shown(std::string_view name) {
    constexpr std::size_t kBytesShown = 64;
    return is_utf8(name) ? std::string(cut_utf8(name, kBytesShown)) : std::string();
}

Error unknown_parameter(std::string_view name, std::initializer_list<std::string_view> known) {
    std::string names;
    for (const std::string_view each : known) names += (names.empty() ? "" : ", ") + std::string(each);
    if (names.empty()) names = "none";
    std::string detail = "unknown parameter; this call takes " + names;
    const std::string written = shown(name);
    const std::span<const std::string_view> ours(known.begin(), known.size());
    if (const auto meant = name_meant_by(written, ours)) detail += "; " + did_you_mean(meant->name, meant->note);
    return {"unknown_parameter"_code, std::move(detail), written};
}

}  // namespace

Result<QueryRequest> QueryRequest::parse(std::string_view query, std::initializer_list<std::string_view> known) {
    QueryRequest request;
    if (query.empty()) return request;
    const bool has_empty_pair = query.front() == '&' || query.back() == '&' || query.find("&&") != query.npos;
    if (has_empty_pair) {
        return Error{"bad_parameter"_code,
                     "there is nothing between two &: write name=value, with one & between parameters"};
    }
    Result<std::vector<QueryParameter>> parameters = parse_query(query);
    if (!parameters) {
        return Error{"bad_parameter"_code,
                     "a percent sign must be followed by two hexadecimal digits; write a percent sign itself as %25",
                     shown(parameters.error().field)};
    }
    request.parameters_ = *std::move(parameters);
    for (std::size_t i = 0; i < request.parameters_.size(); ++i) {
        const auto& [name, value] = request.parameters_[i];
        if (std::find(known.begin(), known.end(), name) == known.end()) return unknown_parameter(name, known);
        if (value.empty())
            return Error{"bad_parameter"_code, "this parameter has no value: give one or omit it", shown(name)};
        for (std::size_t before = 0; before < i; ++before) {
            if (request.parameters_[before].name != name) continue;
            return Error{"duplicate_parameter"_code,
                         "this parameter is given twice; write several values in one, separated by commas",
                         shown(name)};
        }
    }
    return request;
}

std::optional<std::string_view> QueryRequest::text(std::string_view name) const {
    for (const QueryParameter& parameter : parameters_) {
        if (parameter.name == name) return parameter.value;
    }
    return std::nullopt;
}

Result<std::optional<std::int64_t>> QueryRequest::instant_ms(std::string_view name) const {
    const std::optional<std::string_view> given = text(name);
    if (!given) return std::optional<std::int64_t>();
    Result<std::int64_t> instant = read_instant(*given, name);
    if (instant) return std::optional<std::int64_t>(*instant);
    Error error = std::move(instant).error();
    if (given->find(' ') != given->npos) error.message += " In a URL, write the + of an offset as %2B.";
    return error;
}

Result<bool> QueryRequest::flag(std::string_view name) const {
    const std::string_view given = text(name).value_or("false");
    if (given == "true" || given == "false") return given == "true";
    return Error{"bad_parameter"_code, "`" + std::string(name) + "` must be `true` or `false`", std::string(name)};
}

Result<std::optional<std::int64_t>> QueryRequest::duration_ms(std::string_view name) const {
    const std::optional<std::string_view> given = text(name);
    if (!given) return std::optional<std::int64_t>();
    const Result<std::int64_t> duration = read_duration(*given, name);
    if (!duration) return duration.error();
    return std::optional<std::int64_t>(*duration);
}

Result<std::optional<std::int64_t>> QueryRequest::integer(std::string_view name, std::int64_t least,
                                                          std::int64_t most) const {
    const std::optional<std::string_view> given = text(name);
    if (!given) return std::optional<std::int64_t>();
    std::int64_t number = 0;
    const char* end = given->data() + given->size();
    const auto [stopped, failed] = std::from_chars(given->data(), end, number);
    if (failed != std::errc() || stopped != end || number < least || number > most) {
        return Error{"out_of_range"_code,
                     "`" + std::string(name) + "` must be an integer from " + std::to_string(least) + " to " +
                         std::to_string(most),
                     std::string(name)};
    }
    return std::optional<std::int64_t>(number);
}

}  // namespace duewheel

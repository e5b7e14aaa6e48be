// Parts of an address: escapes, paths and parameters have one meaning, and encoded values decode to the same value.
#include <string>
#include <vector>

#include "base/base64.h"
#include "fuzz/fuzz_target.h"
#include "http_api/calls/call_path.h"
#include "net/http/http_target.h"

namespace duewheel::address_fuzz {
namespace {

void judge_base64(std::string_view input) {
    if (const auto bytes = parse_base64(input)) require(base64(*bytes) == input, "two texts are one value in base64");
    if (const auto bytes = parse_base64url(input)) require(base64url(*bytes) == input, "two texts are one base64url");
    require(parse_base64(base64(input)) == input, "bytes are others after base64");
    require(parse_base64url(base64url(input)) == input, "bytes are others after base64url");
}

void judge_path(std::string_view input) {
    const std::string path = "/" + std::string(input);
    std::vector<std::string_view> segments;
    split_path(path, segments);
    std::string joined;
    for (const std::string_view segment : segments) joined.append("/").append(segment);
    require(joined == path, "the segments are not the path");
    const std::optional<CallPath> call = find_call(segments);
    if (!call) return;
    require(!allowed_methods(*call).empty(), "a call has no method");
    const auto within = [&](std::string_view part) {
        return part.empty() || (part.data() >= path.data() && part.data() + part.size() <= path.data() + path.size());
    };
    require(within(call->name), "a call's name is not from its path");
    require(within(call->name_space) || call->name_space == kDefaultNamespace, "a namespace is not from the path");
}

void judge_query(std::string_view input) {
    const auto parameters = parse_query(input);
    if (!parameters) {
        require(input.find('%') != input.npos, "a query without an escape was refused");
        return;
    }
    std::string written;
    for (const QueryParameter& parameter : *parameters) {
        written.append(written.empty() ? "" : "&").append(percent_encode(parameter.name));
        written.append("=").append(percent_encode(parameter.value));
    }
    const auto again = parse_query(written);
    require(again.ok() && again->size() == parameters->size(), "parameters are others after writing");
    for (std::size_t i = 0; i < parameters->size(); ++i) {
        const bool same = (*again)[i].name == (*parameters)[i].name && (*again)[i].value == (*parameters)[i].value;
        require(same, "a parameter is another after writing");
    }
}

}  // namespace

void fuzz(std::string_view input) {
    const auto decoded = percent_decode(input);
    if (decoded) require(decoded->size() <= input.size(), "decoding made it longer");
    const auto round = percent_decode(percent_encode(input));
    require(round.ok() && *round == input, "bytes are others after an escape");
    judge_path(input);
    judge_query(input);
    judge_base64(input);
}

}  // namespace duewheel::address_fuzz

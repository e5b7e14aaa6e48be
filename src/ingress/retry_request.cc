#include "ingress/retry_request.h"

#include <optional>
#include <string>

#include "base/utf8.h"
#include "ingress/json_number.h"
#include "ingress/request_members.h"

namespace duewheel {
namespace {

constexpr std::size_t kWordBytesShown = 64;

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Digits, perhaps with a point between them: all that a rule needs of a number.
bool is_decimal(std::string_view text) {
    const std::size_t point = text.find('.');
    const auto is_digits = [](std::string_view part) {
        return !part.empty() && part.size() <= 18 && part.find_first_not_of("0123456789") == std::string_view::npos;
    };
    if (point == std::string_view::npos) return is_digits(text);
    return is_digits(text.substr(0, point)) && is_digits(text.substr(point + 1));
}

Status read_number(std::string_view value, std::string_view member, std::string_view field_name, bool thousandths,
                   std::optional<std::int64_t>& into) {
    if (is_decimal(value)) {
        const JsonNumber number = thousandths ? read_json_thousandths(value) : read_json_number(value);
        if (number.whole) return into = number.value, Status();
    }
    return Error{"wrong_type",
                 std::string(field_name) + ": `" + std::string(member) + "` is a " +
                     (thousandths ? "number of at most three decimals, such as 1.5" : "whole number, such as 5"),
                 std::string(field_name)};
}

Status read_pair(std::string_view name, std::string_view value, std::string_view field_name, RetryChoice& choice) {
    std::optional<std::int64_t>* place = name == "attempts" ? &choice.attempts
                                         : name == "first"  ? &choice.first_ms
                                         : name == "factor" ? &choice.factor_permille
                                         : name == "most"   ? &choice.most_ms
                                         : name == "jitter" ? &choice.jitter_permille
                                                            : nullptr;
    if (place == nullptr) {
        const std::string shown = is_utf8(name) ? std::string(cut_utf8(name, kWordBytesShown)) : "what it holds";
        return Error{"unknown_member",
                     std::string(field_name) + ": " + shown +
                         " is not known here; attempts=, first=, factor=, most= and jitter= are, with commas between",
                     std::string(field_name)};
    }
    if (*place) {
        return Error{"duplicate_member", std::string(field_name) + ": `" + std::string(name) + "` is given twice",
                     std::string(field_name)};
    }
    if (name == "first" || name == "most") {
        const Result<std::int64_t> duration = read_duration(value, field_name);
        if (!duration) return duration.error();
        *place = *duration;
        return {};
    }
    return read_number(value, name, field_name, name != "attempts", *place);
}

}  // namespace

Result<RetryChoice> read_retry(const JsonRequest& request) {
    RetryChoice choice;
    const Result<std::optional<JsonRequest>> object = request.object("retry");
    if (!object) return object.error();
    if (!*object) return choice;
    const JsonRequest& retry = **object;
    Status read = retry.only({"attempts", "first", "factor", "most", "jitter"});
    if (read) read = take(retry.integer("attempts"), choice.attempts);
    if (read) read = take(retry.duration_ms("first"), choice.first_ms);
    if (read) read = take(retry.thousandths("factor"), choice.factor_permille);
    if (read) read = take(retry.duration_ms("most"), choice.most_ms);
    if (read) read = take(retry.thousandths("jitter"), choice.jitter_permille);
    if (!read) return std::move(read).error();
    return choice;
}

Result<RetryChoice> read_retry_field(std::string_view text, std::string_view field_name) {
    RetryChoice choice;
    for (bool more = true; more;) {
        const std::size_t comma = text.find(',');
        more = comma != std::string_view::npos;
        const std::string_view pair = trimmed(text.substr(0, comma));
        if (more) text.remove_prefix(comma + 1);
        const std::size_t equals = std::min(pair.find('='), pair.size());
        const std::string_view value = equals < pair.size() ? trimmed(pair.substr(equals + 1)) : std::string_view();
        if (Status read = read_pair(trimmed(pair.substr(0, equals)), value, field_name, choice); !read) {
            return std::move(read).error();
        }
    }
    return choice;
}

}  // namespace duewheel

#include "http_api/requests/put_hash.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <boost/json/basic_parser_impl.hpp>

#include "base/json_writer.h"
#include "http_api/fields/field_syntax.h"
#include "http_api/fields/json_request.h"
#include "http_api/fields/json_text.h"
#include "http_api/requests/kept_headers.h"
#include "message/records/fields.h"
#include "message/records/request_hash.h"
#include "net/http/http_message.h"

namespace duewheel {
namespace {

namespace json = boost::json;

// Builds the canonical text of each value from those inside it.
class Canonical {
  public:
    static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_array_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_key_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_string_size = std::numeric_limits<std::size_t>::max();

    using Code = json::error_code;
    bool on_document_begin(Code&) { return true; }
    bool on_document_end(Code&) { return true; }
    bool on_object_begin(Code&) { return open(); }
    bool on_object_end(std::size_t, Code&) {
        std::vector<Member> members = close();
        std::stable_sort(members.begin(), members.end(),
                         [](const Member& left, const Member& right) { return left.first < right.first; });
        std::string text = "{";
        for (const auto& [name, value] : members) {
            text.append(text.size() > 1 ? "," : "").append(name).append(1, ':').append(value);
        }
        return add(text.append(1, '}'));
    }
    bool on_array_begin(Code&) { return open(); }
    bool on_array_end(std::size_t, Code&) {
        std::string text = "[";
        for (const auto& [name, value] : close()) text.append(text.size() > 1 ? "," : "").append(value);
        return add(text.append(1, ']'));
    }
    bool on_key_part(json::string_view part, std::size_t, Code&) { return append(part); }
    bool on_key(json::string_view part, std::size_t, Code&) {
        append(part);
        name_ = quoted(std::exchange(part_, {}));
        return true;
    }
    bool on_string_part(json::string_view part, std::size_t, Code&) { return append(part); }
    bool on_string(json::string_view part, std::size_t, Code&) {
        append(part);
        return add(quoted(std::exchange(part_, {})));
    }
    bool on_number_part(json::string_view part, Code&) { return append(part); }
    bool on_int64(std::int64_t, json::string_view part, Code&) { return add_number(part); }
    bool on_uint64(std::uint64_t, json::string_view part, Code&) { return add_number(part); }
    bool on_double(double, json::string_view part, Code&) { return add_number(part); }
    bool on_bool(bool value, Code&) { return add(value ? "true" : "false"); }
    bool on_null(Code&) { return add("null"); }
    bool on_comment_part(json::string_view, Code&) { return true; }
    bool on_comment(json::string_view, Code&) { return true; }

    std::string text() { return std::move(values_.front().second); }

  private:
    using Member = std::pair<std::string, std::string>;  // its name, empty in an array, and its value

    bool open() {
        open_.emplace_back(std::exchange(name_, {}), values_.size());
        return true;
    }
    // The values of the innermost open object or array.
    std::vector<Member> close() {
        auto [name, first] = std::move(open_.back());
        open_.pop_back();
        std::vector<Member> inner(std::make_move_iterator(values_.begin() + static_cast<std::ptrdiff_t>(first)),
                                  std::make_move_iterator(values_.end()));
        values_.resize(first);
        name_ = std::move(name);
        return inner;
    }
    bool add(std::string value) {
        values_.emplace_back(std::exchange(name_, {}), std::move(value));
        return true;
    }
    bool append(json::string_view part) {
        part_.append(part.data(), part.size());
        return true;
    }
    bool add_number(json::string_view part) {
        append(part);
        return add(std::exchange(part_, {}));
    }
    static std::string quoted(std::string_view text) {
        std::string out;
        JsonWriter(out).element(text);
        return out;
    }

    std::vector<Member> values_;                             // complete, and in no complete object or array
    std::vector<std::pair<std::string, std::size_t>> open_;  // its name, and the number of values before it
    std::string name_;                                       // of the next value
    std::string part_;
};

// A number plus one, so that 0 differs from no value.
void choice(FieldWriter& to, std::uint32_t tag, const std::optional<std::int64_t>& value) {
    if (value) to.number(tag, zigzag(*value) + 1);
}

void add_when(FieldWriter& to, std::uint32_t tag, const When& when) {
    choice(to, tag, when.at_ms);
    if (!when.at_ms) to.signed_number(tag + 1, when.delay_ms);
}

std::string retry_text(const RetryChoice& retry) {
    std::string text;
    FieldWriter to(text);
    choice(to, 1, retry.attempts);
    choice(to, 2, retry.first_ms);
    choice(to, 3, retry.factor_permille);
    choice(to, 4, retry.max_ms);
    choice(to, 5, retry.jitter_permille);
    return text;
}

std::string repeat_text(const RepeatChoice& repeat) {
    std::string text;
    FieldWriter to(text);
    to.signed_number(1, repeat.every_ms);
    choice(to, 2, repeat.times);
    choice(to, 3, repeat.factor_permille);
    choice(to, 4, repeat.max_ms);
    choice(to, 5, repeat.until_ms);
    return text;
}

std::string transaction_text(const TransactionRule& rule) {
    std::string text;
    FieldWriter to(text);
    to.boolean(1, true);
    to.text(2, rule.check_queue);
    to.signed_number(3, rule.check_after_ms);
    to.number(4, rule.check_times);
    to.boolean(5, rule.otherwise_commit);
    return text;
}

// Without where a record came from: a producer that repeats a record gives it another place.
std::string headers_text(std::string_view kept) {
    RecordParts parts = record_parts_of(kept);
    parts.source.clear();
    std::stable_sort(parts.headers.begin(), parts.headers.end(),
                     [](const auto& left, const auto& right) { return left.first < right.first; });
    return encode_record_parts(parts);
}

}  // namespace

std::string canonical_json(std::string_view text) {
    if (!is_json_text(text)) return std::string(text);
    json::parse_options options;
    options.max_depth = kJsonDepthMax;
    json::error_code code;
    json::basic_parser<Canonical> parser(options);
    parser.write_some(false, text.data(), text.size(), code);
    return code ? std::string(text) : parser.handler().text();
}

std::uint64_t hash_put(const PutCommand& put, const When& when) {
    const bool is_json = equal_ignoring_case(essence(put.content_type), "application/json");
    std::string said;
    FieldWriter to(said);
    add_when(to, 1, when);
    // 3 is taken: `flex` of earlier versions.
    if (put.expires) add_when(to, 4, *put.expires);
    to.signed_number(6, put.priority);
    to.text(7, put.order_key);
    to.text(8, retry_text(put.retry));
    if (put.repeat) to.text(9, repeat_text(*put.repeat));
    if (put.transaction) to.text(10, transaction_text(*put.transaction));
    to.boolean(11, put.is_held);
    to.text(12, put.content_type);
    if (!put.headers.empty()) to.text(13, headers_text(put.headers));
    to.text(14, put.group);
    return hash_request(said, is_json ? hash_request(canonical_json(put.body)) : hash_request(put.body));
}

}  // namespace duewheel

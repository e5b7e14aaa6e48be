// Headers and the parts of a Kafka record: what a response shows can be put again, and is the same.
#include "http_api/requests/message_headers.h"

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "http_api/requests/kept_headers.h"

namespace duewheel::message_headers_test {
namespace {

std::string shown(std::string_view kept) {
    std::string text;
    JsonWriter json(text);
    json.open();
    write_message_headers(json, kept);
    json.close();
    return text;
}

// The stored form, or the code and field of the refusal.
std::string put(const std::string& text, std::string kept = {}, bool is_patch = false) {
    Result<JsonRequest> json = JsonRequest::parse(text);
    EXPECT_TRUE(json.ok()) << text;
    if (!json) return "";
    if (is_patch) json->read_as_patch();
    const Status read = read_message_headers(*json, HttpApiOptions{}, kept);
    return read ? kept : std::string(name_of(read.error().code)) + " " + read.error().field;
}

TEST(MessageHeaders, of_a_record_that_http_can_have_are_an_object) {
    RecordParts parts;
    parts.key = "k";
    parts.headers = {{"trace", "1"}, {"X-Empty", ""}};
    parts.source = "payments.later/3/17";
    EXPECT_EQ(shown(encode_record_parts(parts)),
              R"({"headers":{"trace":"1","X-Empty":""},"kafka":{"key":"k","source":"payments.later/3/17"}})");
    EXPECT_EQ(shown(R"({"a":"b"})"), R"({"headers":{"a":"b"}})");
    EXPECT_EQ(shown(""), "{}");
}

TEST(MessageHeaders, that_http_cannot_have_are_a_list) {
    const auto headers = [](auto... all) {
        RecordParts parts;
        parts.headers = {all...};
        return shown(encode_record_parts(parts));
    };
    using Header = std::pair<std::string, std::optional<std::string>>;
    EXPECT_EQ(headers(Header("a", "1"), Header("A", "2")),
              R"({"kafka":{"headers":[{"name":"a","value":"1"},{"name":"A","value":"2"}]}})");
    EXPECT_EQ(headers(Header("a", std::nullopt)), R"({"kafka":{"headers":[{"name":"a"}]}})");
    EXPECT_EQ(headers(Header("a b", "")), R"({"kafka":{"headers":[{"name":"a b","value":""}]}})");
    EXPECT_EQ(headers(Header("a", "line\n")), R"({"kafka":{"headers":[{"name":"a","value":"line\n"}]}})");
    EXPECT_EQ(headers(Header("\xff", "\xff")),
              R"({"kafka":{"headers":[{"name_base64":"/w==","value_base64":"/w=="}]}})");
}

TEST(MessageHeaders, are_the_same_when_what_is_shown_is_put) {
    RecordParts parts;
    parts.key = std::string("\0\xff", 2);
    parts.has_null_value = true;
    parts.headers = {{"a", "1"}, {"a", std::nullopt}, {"", std::string("\0", 1)}, {"\xff", "x"}};
    parts.source = "t/0/1";
    RecordParts plain;
    plain.key = "";
    plain.headers = {{"a", "b"}};
    for (const RecordParts& each : {parts, plain}) {
        const std::string kept = encode_record_parts(each);
        EXPECT_EQ(put(shown(kept)), kept) << shown(kept);
    }
    EXPECT_EQ(put(R"({"headers":{"a":"b"}})"), R"({"a":"b"})") << "without parts of Kafka they stay as they were";
    EXPECT_EQ(put(R"({"kafka":{"headers":[{"name":"a","value":"b"}]}})"), R"({"a":"b"})");
    EXPECT_EQ(put(R"({"kafka":{}})"), "");
}

TEST(MessageHeaders, that_make_no_sense_are_refused) {
    EXPECT_EQ(put(R"({"kafka":{"key":"a","key_base64":"YQ=="}})"), "conflicting_members kafka.key_base64");
    EXPECT_EQ(put(R"({"kafka":{"key_base64":"*"}})"), "bad_base64 kafka.key_base64");
    EXPECT_EQ(put(R"({"kafka":{"kye":"a"}})"), "unknown_member kafka.kye");
    EXPECT_EQ(put(R"({"kafka":{"headers":[{"value":"a"}]}})"), "missing_member kafka.headers");
    EXPECT_EQ(put(R"({"kafka":{"headers":[{"name":"a","valeu":"a"}]}})"), "unknown_member kafka.headers[0].valeu");
    EXPECT_EQ(put(R"({"kafka":{"headers":{"a":"b"}}})"), "wrong_type kafka.headers");
    EXPECT_EQ(put(R"({"headers":{"a":"b"},"kafka":{"headers":[]}})"), "conflicting_members kafka.headers");
    EXPECT_EQ(put(R"({"kafka":{"key":")" + std::string(8193, 'k') + "\"}}"), "headers_too_large headers");
    std::string many;
    for (int i = 0; i < 33; ++i) many += (i == 0 ? "" : ",") + std::string(R"({"name":"a"})");
    EXPECT_EQ(put(R"({"kafka":{"headers":[)" + many + "]}}"), "headers_too_large headers");
}

TEST(MessageHeaders, are_changed_one_by_one_by_a_patch) {
    RecordParts parts;
    parts.key = "k";
    parts.headers = {{"a", "1"}, {"b", "2"}, {"null", std::nullopt}};
    const std::string kept = encode_record_parts(parts);
    EXPECT_EQ(put("{}", kept, true), kept);
    parts.headers = {{"c", "3"}, {"a", "1"}, {"null", std::nullopt}};
    EXPECT_EQ(put(R"({"headers":{"B":null,"c":"3"}})", kept, true), encode_record_parts(parts));
    parts.headers.clear();
    EXPECT_EQ(put(R"({"headers":null})", kept, true), encode_record_parts(parts));
    EXPECT_EQ(put(R"({"kafka":null})", kept, true), R"({"a":"1","b":"2"})");
    parts.key = "other";
    parts.headers = {{"x", std::nullopt}};
    EXPECT_EQ(put(R"({"kafka":{"key":"other","headers":[{"name":"x"}]}})", kept, true), encode_record_parts(parts));
    EXPECT_EQ(put(R"({"kafka":{"key":null,"headers":[]}})", kept, true), "");
}

TEST(MessageHeaders, say_null_value_only_of_an_empty_body) {
    RecordParts parts;
    parts.has_null_value = true;
    const auto fitted = [&](const std::string& text, std::string_view body) {
        std::string kept = encode_record_parts(parts);
        const Status fits = fit_null_value(*JsonRequest::parse(text), body, kept);
        return fits ? kept : std::string(name_of(fits.error().code)) + " " + fits.error().field;
    };
    EXPECT_EQ(fitted(R"({"kafka":{"null_value":true}})", ""), encode_record_parts(parts));
    EXPECT_EQ(fitted(R"({"kafka":{"null_value":true}})", "x"), "conflicting_members kafka.null_value");
    EXPECT_EQ(fitted(R"({"body":"x"})", "x"), "") << "a patch that gives a body";
}

TEST(MessageHeaders, of_a_record_that_a_webhook_can_have_are_posted) {
    RecordParts parts;
    parts.headers = {{"a", "1"}, {"null", std::nullopt}, {"b", "\xff"}, {"c d", "x"}, {"A", "2"}};
    EXPECT_EQ(read_kept_headers(encode_record_parts(parts)),
              (std::vector<std::pair<std::string, std::string>>{{"a", "1"}, {"A", "2"}}));
}

}  // namespace
}  // namespace duewheel::message_headers_test

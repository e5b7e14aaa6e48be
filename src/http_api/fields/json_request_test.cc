#include "http_api/fields/json_request.h"

#include <limits>

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "calendar/instant_text.h"
#include "shared/random.h"
#include "shared/utf8.h"

namespace duewheel::json_request_test {
namespace {

std::string code_of(const Error& error) {
    return std::string(name_of(error.code)) + (error.field.empty() ? "" : " " + error.field);
}

std::string parsed(const std::string& body) {
    const Result<JsonRequest> request = JsonRequest::parse(body);
    return request ? "taken" : code_of(request.error());
}

// One member, as the call that reads it gets it.
template <class Reader>
std::string read(const std::string& value, Reader reader, const std::string& name = "m") {
    const std::string body = "{\"" + name + "\":" + value + "}";
    const Result<JsonRequest> request = JsonRequest::parse(body);
    if (!request) return code_of(request.error());
    const auto member = reader(*request);
    if (!member) return code_of(member.error());
    return *member ? std::to_string(**member) : "absent";
}
std::string integer(const std::string& value) {
    return read(value, [](const JsonRequest& request) { return request.integer("m"); });
}
std::string duration(const std::string& value) {
    return read(value, [](const JsonRequest& request) { return request.duration_ms("m"); });
}
std::string instant(const std::string& value) {
    return read(value, [](const JsonRequest& request) { return request.instant_ms("m"); });
}
std::string duration_of_number(const std::string& value) {
    return read(
        value, [](const JsonRequest& request) { return request.duration_ms("m"); }, "m_ms");
}
std::string instant_of_number(const std::string& value) {
    return read(
        value, [](const JsonRequest& request) { return request.instant_ms("m"); }, "m_ms");
}

TEST(JsonRequest, understands_numbers_exactly) {
    const std::pair<const char*, const char*> numbers[] = {
        {"0", "0"},
        {"-0", "0"},
        {"-0.0", "0"},
        {"0e99", "0"},
        {"0.000e-5", "0"},
        {"1.0", "1"},
        {"1e3", "1000"},
        {"1E+3", "1000"},
        {"-12.50e1", "-125"},
        {"1000e-3", "1"},
        {"0.001e3", "1"},
        {"123456789012345678.9e1", "1234567890123456789"},
        {"9007199254740993", "9007199254740993"},
        {"9007199254740993.0", "9007199254740993"},
        {"9007199254740992.5", "wrong_type m"},
        {"9223372036854775807", "9223372036854775807"},
        {"9223372036854775808", "9223372036854775807"},
        {"9.223372036854775808e18", "9223372036854775807"},
        {"18446744073709551616", "9223372036854775807"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"-9223372036854775809", "-9223372036854775808"},
        {"1e400", "9223372036854775807"},
        {"-1e400", "-9223372036854775808"},
        {"1e-400", "wrong_type m"},
        {"0.5", "wrong_type m"},
        {"1.00000000000000000000000000000001", "wrong_type m"},
        {"1.00000000000000000000000000000000", "1"},
        {"NaN", "bad_json"},
        {"Infinity", "bad_json"},
        {"+1", "bad_json"},
        {"01", "bad_json"},
        {"1.", "bad_json"},
        {".5", "bad_json"},
        {"0x10", "bad_json"},
        {"\"1\"", "wrong_type m"},
        {"null", "wrong_type m"},
    };
    for (const auto& [text, value] : numbers) EXPECT_EQ(integer(text), value) << text;
    // An exponent that no type holds was called bad JSON, which it is not.
    for (const char* text : {"1e99999999999999999999", "1e99999999999"}) EXPECT_EQ(integer(text), "out_of_range m");
}

TEST(JsonRequest, random_numbers_in_any_notation_come_back) {
    for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const auto number = static_cast<std::int64_t>(random.next()) >> random.below(64);
        std::string digits = std::to_string(number);
        const std::string sign = number < 0 ? "-" : "";
        digits.erase(0, sign.size());
        // The point moves left by some places and the exponent brings it back.
        const std::size_t places = random.below(digits.size());
        std::string text = digits;
        if (places > 0) text.insert(digits.size() - places, ".");
        if (places > 0 || random.chance(500'000)) text += random.chance(500'000) ? "e" : "E+";
        if (text.size() > 0 && (text.back() == 'e' || text.back() == '+')) text += std::to_string(places);
        ASSERT_EQ(integer(sign + text), std::to_string(number)) << sign + text;
    }
}

TEST(JsonRequest, reads_durations) {
    const std::pair<const char*, const char*> numbers[] = {
        {"0", "0"},
        {"-0", "0"},
        {"250", "250"},
        {"1.5e3", "1500"},
        {"9223372036854775807", "9223372036854775807"},
        {"9223372036854775808", "bad_duration m_ms"},
        {"1e400", "bad_duration m_ms"},
        {"1.5", "bad_duration m_ms"},
        {"-1", "negative_duration m_ms"},
        {"-0.5", "negative_duration m_ms"},
        {"-1e400", "negative_duration m_ms"},
    };
    for (const auto& [text, value] : numbers) {
        EXPECT_EQ(duration_of_number(text), value) << text;
        EXPECT_EQ(duration(text), "bad_duration m") << text << ", which has no unit";
    }
    const std::pair<const char*, const char*> texts[] = {
        {"\"10m\"", "600000"},
        {"\"PT1.5S\"", "1500"},
        {"\"\\u0031s\"", "1000"},
        {"\"-1s\"", "negative_duration m"},
        {"\"-PT1S\"", "negative_duration m"},
        {"\"10\"", "bad_duration m"},
        {"\"\"", "bad_duration m"},
        {"\"1s\\u0000\"", "bad_duration m"},
        {"true", "wrong_type m"},
        {"[]", "wrong_type m"},
    };
    for (const auto& [text, value] : texts) EXPECT_EQ(duration(text), value) << text;
    EXPECT_EQ(duration_of_number("\"10m\""), "wrong_type m_ms");
}

TEST(JsonRequest, reads_instants) {
    const std::string last = std::to_string(kLastInstant);
    const std::pair<std::string, std::string> numbers[] = {
        {"946684800000", "946684800000"},
        {"946684799999", "bad_instant m_ms"},
        {"0", "bad_instant m_ms"},
        {last, last},
        {std::to_string(kLastInstant + 1), "bad_instant m_ms"},
        {"1e400", "bad_instant m_ms"},
        {"-1", "bad_instant m_ms"},
        {"0.5", "bad_instant m_ms"},
    };
    for (const auto& [text, value] : numbers) {
        EXPECT_EQ(instant_of_number(text), value) << text;
        EXPECT_EQ(instant(text), "bad_instant m") << text << ", which has no unit";
    }
    const std::pair<std::string, std::string> texts[] = {
        {"\"1970-01-01T00:00:00Z\"", "0"},
        {"\"2027-01-01T06:00:00.25Z\"", "1798783200250"},
        {"\"2027-01-01T06:00:00\"", "bad_instant m"},
        {"\"1798783200250\"", "bad_instant m"},
        {"{}", "wrong_type m"},
    };
    for (const auto& [text, value] : texts) EXPECT_EQ(instant(text), value) << text;
}

TEST(JsonRequest, strings_are_unescaped) {
    const std::string body =
        "{\"plain\":\"as it "
        "is\",\"\\u0065scaped\\u00e5\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\u00e5\\u2192\\ud83d\\ude00\","
        "\"empty\":\"\",\"o\":{\"x\":\"1\",\"\\u0079\":\"\\u0032\",\"\":\"\"},\"long\":\"" +
        std::string(5000, 'l') + "\\n" + std::string(5000, 'm') + "\"}";
    Result<JsonRequest> held = JsonRequest::parse(body);
    ASSERT_TRUE(held);
    const JsonRequest request = *std::move(held);  // the views outlive the move
    EXPECT_EQ(**request.text("plain"), "as it is");
    EXPECT_EQ(**request.text("escaped\u00e5"), std::string_view("\"\\/\b\f\n\r\t\0\u00e5\u2192\U0001f600", 18));
    EXPECT_EQ(**request.text("empty"), "");
    EXPECT_EQ(**request.text("long"), std::string(5000, 'l') + "\n" + std::string(5000, 'm'));
    EXPECT_EQ(*request.texts("o"), (JsonRequest::Texts{{"x", "1"}, {"y", "2"}, {"", ""}}));
    EXPECT_EQ(*request.text("x"), std::nullopt);  // of the inner object
    EXPECT_EQ(*request.text("none"), std::nullopt);
    EXPECT_TRUE(request.has("o"));
    EXPECT_FALSE(request.has("x"));
    EXPECT_TRUE(request.texts("none")->empty());
}

TEST(JsonRequest, a_text_without_escapes_is_not_copied) {
    const std::string body = R"({"m":"text"})";
    const Result<JsonRequest> request = JsonRequest::parse(body);
    ASSERT_TRUE(request);
    EXPECT_EQ((*request->text("m"))->data(), body.data() + 6);
}

// What lies deeper is skipped, or read by the caller for the object that holds it.
TEST(JsonRequest, members_are_distinguished_by_depth) {
    const std::string body = R"({"a":[{"b":"1"},"x",[["y"]]],"o":{"p":{"q":"r"}},"e":{},"b":"2","n":[],"t":true})";
    const Result<JsonRequest> request = JsonRequest::parse(body);
    ASSERT_TRUE(request);
    EXPECT_TRUE(request->only({"a", "o", "e", "b", "n", "t"}));
    EXPECT_EQ(**request->text("b"), "2");
    EXPECT_EQ(request->texts("o").error().message, "`o.p` is an object; it must be a string");
    EXPECT_TRUE(request->texts("e")->empty());
    EXPECT_EQ(code_of(request->texts("a").error()), "wrong_type a");
    const std::optional<JsonRequest> outer = *request->object("o");
    ASSERT_TRUE(outer);
    EXPECT_TRUE(outer->only({"p"}));
    EXPECT_FALSE(outer->has("q"));
    const std::optional<JsonRequest> inner = *outer->object("p");
    ASSERT_TRUE(inner);
    EXPECT_EQ(**inner->text("q"), "r");
    EXPECT_EQ(code_of(inner->integer("q").error()), "wrong_type o.p.q");
    EXPECT_EQ(code_of(inner->only({"x"}).error()), "unknown_member o.p.q");
    EXPECT_EQ(request->text("t").error().message, "`t` is a boolean; it must be a string");
}

TEST(JsonRequest, refuses_duplicate_members) {
    const auto only = [](const std::string& body) {
        const Result<JsonRequest> request = JsonRequest::parse(body);
        EXPECT_TRUE(request);
        const Status status = request->only({"body", "delay"});
        return status ? "fine" : code_of(status.error());
    };
    EXPECT_EQ(only(""), "fine");
    EXPECT_EQ(only("{}"), "fine");
    EXPECT_EQ(only(R"({"delay":1,"body":1})"), "fine");
    EXPECT_EQ(only(R"({"body":1,"delay":1,"body":1})"), "duplicate_member body");
    EXPECT_EQ(only(R"({"body":1,"\u0062ody":1})"), "duplicate_member body");
    EXPECT_EQ(only(R"({"body":{"body":1},"delay":[{"delay_ms":1}]})"), "fine");
    EXPECT_EQ(only(R"({"body":1,"body\u0000":1})"), std::string("unknown_member body\0", 20));
    EXPECT_EQ(only(R"({"Body":1})"), "unknown_member Body");
    EXPECT_EQ(JsonRequest::parse(R"({"dealy":1})")->only({"body", "delay"}).error().message,
              "`dealy` is unknown; did you mean `delay`?");
    // `transaction` was told that `expires_in` is near.
    EXPECT_EQ(JsonRequest::parse(R"({"transaction":1})")->only({"body", "delay"}).error().message,
              "`transaction` is unknown; known members: `body`, `delay`");
    EXPECT_EQ(JsonRequest::parse(R"({"x":1})")->only({}).error().message, "`x` is unknown: this call takes no members");
}

TEST(JsonRequest, counts_members_up_to_a_limit) {
    const auto with = [](int members, const char* before, const char* after) {
        std::string body = before;
        for (int i = 0; i < members; ++i) body += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":0";
        return parsed(body + after);
    };
    EXPECT_EQ(with(1099, "{", "}"), "taken");
    EXPECT_EQ(with(1100, "{", "}"), "taken");
    EXPECT_EQ(with(1101, "{", "}"), "too_many_members");
    EXPECT_EQ(with(1099, "{\"o\":{", "}}"), "taken");
    EXPECT_EQ(with(1100, "{\"o\":{", "}}"), "too_many_members");
    EXPECT_EQ(with(100'000, "{", ""), "too_many_members");
    // What arrays and objects hold counts too, and what those in them hold, down to the fourth level; what is deeper
    // does not.
    const auto with_list = [](int elements) {
        std::string body = R"({"deeper":{"x":{"y":{"z":[1,2,3]}}},"list":[0)";
        for (int i = 1; i < elements; ++i) body += ",0";
        return parsed(body + "]}");
    };
    EXPECT_EQ(with_list(1095), "taken");
    EXPECT_EQ(with_list(1096), "too_many_members");
    // Objects of `leases` are read one by one.
    std::string leases = R"({"leases":[{})";
    for (int i = 1; i < 1000; ++i) leases += R"(,{"token":"x","a":1,"b":[2]})";
    EXPECT_EQ(parsed(leases + R"(],"more":[{"a":1}]})"), "taken");
    EXPECT_EQ(parsed(R"({"other":)" + leases.substr(leases.find('[')) + "]}"), "too_many_members");
}

TEST(JsonRequest, says_where_json_ends_to_be_json) {
    const auto detail = [](const std::string& body) { return JsonRequest::parse(body).error().message; };
    EXPECT_TRUE(detail("{\"a\":1,\n\"b\" 2}").ends_with(" at line 2, column 5")) << detail("{\"a\":1,\n\"b\" 2}");
    EXPECT_TRUE(detail("x").ends_with(" at line 1, column 1"));
    EXPECT_TRUE(detail("{}\n\nx").ends_with(" at line 3, column 1")) << detail("{}\n\nx");
    EXPECT_TRUE(detail("{\"a\":").ends_with(" at line 1, column 6")) << detail("{\"a\":");
    EXPECT_EQ(parsed(" "), "bad_json");
    EXPECT_EQ(parsed("\xef\xbb\xbf{}"), "bad_json");
    EXPECT_EQ(parsed("{} \r\n\t "), "taken");
    EXPECT_EQ(parsed(std::string("{}\0", 3)), "bad_json");
    EXPECT_EQ(parsed("{\"a\":\"\t\"}"), "bad_json");
    EXPECT_EQ(parsed("{\"a\":\"\\x\"}"), "bad_json");
}

TEST(JsonRequest, counts_depth_up_to_a_limit) {
    const auto nested = [](int levels, const std::string& open, const std::string& close) {
        std::string body;
        for (int i = 0; i < levels; ++i) body += open;
        body += "0";
        for (int i = 0; i < levels; ++i) body += close;
        return body;
    };
    EXPECT_EQ(parsed(nested(31, "{\"a\":", "}")), "taken");
    EXPECT_EQ(parsed(nested(32, "{\"a\":", "}")), "taken");
    EXPECT_EQ(parsed(nested(33, "{\"a\":", "}")), "too_deep");
    EXPECT_EQ(parsed("{\"a\":" + nested(31, "[", "]") + "}"), "taken");
    EXPECT_EQ(parsed("{\"a\":" + nested(32, "[", "]") + "}"), "too_deep");
    EXPECT_EQ(parsed(std::string(1'000'000, '[')), "too_deep");
}

// The parser looks at the bytes of each text itself; the judge of UTF-8 only names what is wrong.
TEST(JsonRequest, accepts_only_strings_in_utf8) {
    int taken = 0;
    for (std::uint64_t seed = 1; seed <= 50'000; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        std::string text;
        static constexpr const char* kPieces[] = {"a",
                                                  "\xc3\xa5",
                                                  "\xe2\x86\x92",
                                                  "\xf0\x9f\x98\x80",
                                                  "\xed\xa0\x80",
                                                  "\xe0\x80\x80",
                                                  "\xf4\x90\x80\x80",
                                                  "\xc0\x80",
                                                  "\x80",
                                                  "\xff"};
        for (std::uint64_t i = 1 + random.below(8); i > 0; --i)
            text += kPieces[random.below(random.chance(700'000) ? 4 : 10)];
        if (random.chance(200'000)) text.erase(random.below(text.size()), 1);
        for (const std::string& body :
             {"{\"m\":\"" + text + "\"}", "{\"m\\n" + text + "\":1}", "{\"m\":[[\"\\n" + text + "\"]]}"}) {
            ASSERT_EQ(parsed(body), is_utf8(text) ? "taken" : "bad_utf8") << testing::PrintToString(body);
        }
        taken += is_utf8(text) ? 1 : 0;
    }
    EXPECT_GT(taken, 5'000);
    EXPECT_LT(taken, 45'000);
}

TEST(JsonRequest, a_list_of_texts_comes_in_its_order) {
    const auto json =
        JsonRequest::parse(R"({"a":{"x":"y"},"list":["one","t\u0077o",""],"b":"after","none":[],"mixed":["x",1]})");
    ASSERT_TRUE(json);
    EXPECT_EQ(*json->text_list("list"), (std::vector<std::string_view>{"one", "two", ""}));
    EXPECT_TRUE(json->text_list("none")->empty());
    EXPECT_EQ(*json->text("b"), "after");
    EXPECT_EQ(json->text_list("mixed").error().field, "mixed[1]");
    EXPECT_EQ(json->text_list("a").error().code, "wrong_type"_code);
    EXPECT_EQ(json->text_list("absent").error().code, "missing_member"_code);
    EXPECT_TRUE(json->only({"a", "list", "b", "none", "mixed"}));
}

TEST(JsonRequest, a_list_of_objects_has_the_members_of_each) {
    const auto json = JsonRequest::parse(
        R"({"in":{"list":[{"x":"1","y":["z"]},{},{"x":"2"}]},"none":[],"mixed":[{"x":"1"},"a"],"x":"outside"})");
    ASSERT_TRUE(json);
    const auto in = json->object("in");
    ASSERT_TRUE(in && *in);
    const Result<std::vector<JsonRequest>> list = (*in)->objects("list");
    ASSERT_TRUE(list);
    ASSERT_EQ(list->size(), 3u);
    EXPECT_EQ(*(*list)[0].text("x"), "1");
    EXPECT_EQ((*list)[0].text("y").error().field, "in.list[0].y");
    EXPECT_FALSE((*list)[1].has("x"));
    EXPECT_EQ(*(*list)[2].text("x"), "2");
    EXPECT_EQ((*list)[2].only({"y"}).error().field, "in.list[2].x");
    EXPECT_TRUE(json->objects("none")->empty());
    EXPECT_TRUE(json->objects("absent")->empty());
    EXPECT_EQ(json->objects("mixed").error().field, "mixed[1]");
    EXPECT_EQ(json->objects("in").error().code, "wrong_type"_code);
}

}  // namespace
}  // namespace duewheel::json_request_test

// What comes from a table of fields: what requests may hold, responses, the schema, and the tables of members in docs.
// After a change, DUEWHEEL_RECORD=1 build/test/bin/http_api_test --gtest_filter='FieldPages*' writes them again.
#include "http_api/fields/field_schema.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "http_api/fields/field_reader.h"
#include "http_api/fields/field_writer.h"
#include "http_api/fields/lease_rows.h"
#include "http_api/fields/message_rows.h"
#include "http_api/fields/put_rows.h"
#include "resource/lamp_fixture.h"
#include "resource/namespace_settings.h"
#include "resource/queue_settings.h"
#include "resource/repeat_fields.h"
#include "resource/retry_fields.h"
#include "resource/schedule_fields.h"
#include "resource/transaction_fields.h"
#include "resource/watchdog_fields.h"
#include "support/field_page.h"

namespace duewheel::field_schema_test {
namespace {

using lamp_fixture::Colour;
using lamp_fixture::everything;
using lamp_fixture::Lamp;

// The lamp after the request; the code and the field of the error of one that is refused.
std::pair<Lamp, std::string> read(std::string_view text, bool is_patch = false, Lamp lamp = {}) {
    Result<JsonRequest> json = JsonRequest::parse(text);
    if (!json) return {lamp, std::string(name_of(json.error().code))};
    if (is_patch) json->read_as_patch();
    const Status done = read_fields(*json, fields_of<Lamp>(), &lamp);
    return {lamp, done ? std::string() : std::string(name_of(done.error().code)) + " " + done.error().field};
}

std::string written(const Lamp& lamp) {
    std::string text;
    JsonWriter json(text);
    json.open();
    write_fields(json, fields_of<Lamp>(), &lamp);
    json.close();
    return text;
}

TEST(FieldReader, reads_what_the_writer_wrote) {
    Lamp lamp = everything();
    EXPECT_EQ(written(lamp),
              R"({"lit":true,"fade_ms":250,"power":{"watts":60,"socket":0},"room":"hall","colour":"blue",)"
              R"("owners":["ann","bob"]})");
    lamp.revision = 0;  // in the log only
    EXPECT_EQ(read(written(lamp)), std::pair(lamp, std::string()));
    EXPECT_EQ(written({}), R"({"lit":false,"colour":"red"})") << "what is absent is not shown";
}

TEST(FieldReader, refuses_by_name) {
    EXPECT_EQ(read(R"({"heat": 1})").second, "unknown_member heat");
    EXPECT_EQ(read(R"({"power": {"heat": 1}})").second, "unknown_member power.heat");
    EXPECT_EQ(read(R"({"power": {"watts": 0}})").second, "out_of_range power.watts");
    EXPECT_EQ(read(R"({"power": {"socket": 3000000000}})").second, "out_of_range power.socket");
    EXPECT_EQ(read(R"({"colour": "green"})").second, "out_of_range colour");
    EXPECT_EQ(read(R"({"lit": 1})").second, "wrong_type lit");
    EXPECT_EQ(read(R"({"fade": "1s", "fade_ms": 1000})").second, "conflicting_members fade_ms");
}

TEST(FieldReader, keeps_in_a_patch_what_it_does_not_name) {
    Lamp wanted = everything();
    wanted.fade_ms = 1'000;
    wanted.socket.reset();
    wanted.colour = Colour::red;
    const std::string_view patch = R"({"fade": "1s", "power": {"socket": null}, "colour": null})";
    EXPECT_EQ(read(patch, true, everything()), std::pair(wanted, std::string()));
    wanted.watts = 0;
    EXPECT_EQ(read(R"({"power": null})", true, wanted), std::pair(wanted, std::string()));
    EXPECT_EQ(read(R"({"fade_ms": null})", true, wanted).first.fade_ms, 0);
}

TEST(FieldSchema, has_each_member_with_its_kind_and_range) {
    const boost::json::object schema = field_schema(fields_of<Lamp>());
    EXPECT_EQ(schema.at("additionalProperties"), false);
    EXPECT_EQ(schema.at("not"), boost::json::parse(R"({"required": ["fade", "fade_ms"]})"));
    const boost::json::object& members = schema.at("properties").as_object();
    EXPECT_EQ(members.size(), 7u);
    EXPECT_EQ(
        members.at("power").at("properties").at("watts"),
        boost::json::parse(R"({"type": "integer", "minimum": 1, "maximum": 100, "description": "What it draws."})"));
    EXPECT_EQ(members.at("fade"), boost::json::parse(R"({"$ref": "#/components/schemas/Duration",
                                                         "description": "How long it takes to go on."})"));
    EXPECT_EQ(members.at("fade_ms"),
              boost::json::parse(R"({"$ref": "#/components/schemas/DurationMs", "minimum": 50, "maximum": 60000,
                                     "description": "Milliseconds. How long it takes to go on."})"));
    EXPECT_EQ(members.at("colour").at("enum"), boost::json::parse(R"(["red", "blue"])"));
}

TEST(FieldPages, say_what_the_tables_say) {
    expect_member_table(fields_of<QueueSettings>(), "http_api.md", "src/resource/queue_settings.cc");
    expect_member_table(fields_of<GroupSettings>(), "http_api.md", "src/resource/group_settings.cc");
    expect_member_table(fields_of<RateRule>(), "http_api.md", "src/resource/rate_rule.cc");
    expect_member_table(fields_of<NamespaceSettings>(), "http_api.md", "src/resource/namespace_settings.cc");
    expect_member_table(fields_of<RetryChoice>(), "http_api.md", "src/resource/retry_fields.cc");
    expect_member_table(fields_of<PutCommand>(), "http_api.md", "src/http_api/fields/put_rows.cc");
    expect_member_table(fields_of<LeaseCommand>(), "http_api.md", "src/http_api/fields/lease_rows.cc");
    expect_member_table(fields_of<MessageAnswer>(), "http_api.md", "src/http_api/fields/message_rows.cc");
    expect_member_table(fields_of<RepeatChoice>(), "http_api.md", "src/resource/repeat_fields.cc");
    expect_member_table(fields_of<ScheduleRule>(), "http_api.md", "src/resource/schedule_fields.cc");
    expect_member_table(fields_of<WatchdogRule>(), "http_api.md", "src/resource/watchdog_fields.cc");
    expect_member_table(fields_of<TransactionRule>(), "http_api.md", "src/resource/transaction_fields.cc",
                        "member of `transaction`");
    expect_member_table(fields_of<WebhookTarget>(), "webhooks.md", "src/resource/webhook_target.cc",
                        "member of `webhook`");
    expect_member_table(fields_of<KafkaTarget>(), "kafka.md", "src/resource/kafka_target.cc", "member of `kafka`");
}

}  // namespace
}  // namespace duewheel::field_schema_test

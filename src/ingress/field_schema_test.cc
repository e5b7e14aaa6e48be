// What the tables of fields make of themselves for readers: the tables of members in docs. After a change,
// DUEWHEEL_RECORD=1 build/test/bin/ingress_test --gtest_filter='FieldPages*' writes them again.
#include "ingress/field_schema.h"

#include <gtest/gtest.h>

#include "resource/namespace_settings.h"
#include "resource/queue_settings.h"
#include "resource/retry_fields.h"
#include "support/field_page.h"

namespace duewheel::field_schema_test {
namespace {

TEST(FieldPages, say_what_the_tables_say) {
    expect_member_table(fields_of<QueueSettings>(), "http_api.md", "src/resource/queue_settings.cc");
    expect_member_table(fields_of<NamespaceSettings>(), "http_api.md", "src/resource/namespace_settings.cc");
    expect_member_table(fields_of<RetryChoice>(), "http_api.md", "src/resource/retry_fields.cc");
    expect_member_table(fields_of<WebhookTarget>(), "webhooks.md", "src/resource/webhook_target.cc",
                        "member of `webhook`");
    expect_member_table(fields_of<KafkaTarget>(), "kafka.md", "src/resource/kafka_target.cc", "member of `kafka`");
}

}  // namespace
}  // namespace duewheel::field_schema_test

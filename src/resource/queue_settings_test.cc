#include "resource/queue_settings.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"
#include "message/queue_counts.h"
#include "message/records/subject.h"
#include "message/totals.h"
#include "resource/field_codec.h"

namespace duewheel::queue_settings_test {
namespace {

QueueSettings everything() {
    QueueSettings settings;
    settings.revision = 7;
    settings.paused = true;
    settings.pending_max = 1'000;
    settings.lease_ms = 60'000;
    settings.retry = {5, 0, 1'500, std::nullopt, 0};
    settings.paused_by = PausedBy::target;
    settings.webhook = {"https://example.com/in", {"new", "old"}, 5'000, 8, 100};
    settings.purge_through = 9 * kShardsMax;
    settings.purge_started_ms = 1'700'000'000'000;
    settings.discard_before_ms = 1'700'000'000'500;
    settings.discard_started_ms = 1'700'000'000'001;
    return settings;
}

TEST(QueueSettings, come_back_as_they_were_written) {
    const QueueSettings settings = everything();
    const Result<QueueSettings> read = decode_queue_settings(encode_queue_settings(settings));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, settings);
}

TEST(QueueSettings, have_up_to_one_target) {
    QueueSettings settings;
    settings.revision = 1;
    settings.kafka = KafkaTarget{.topic = "payments", .partition = 3, .exactly_once = false};
    const Result<QueueSettings> read = decode_queue_settings(encode_queue_settings(settings));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, settings);
    settings.webhook = WebhookTarget{"https://example.com/in", {}, 0, 0, 0};
    EXPECT_EQ(decode_queue_settings(encode_queue_settings(settings)).error().code, "damaged_record"_code);
}

// With `limits.per_second`, as the version before Kafka targets wrote it.
TEST(QueueSettings, of_an_earlier_version_are_read) {
    QueueSettings settings;
    settings.revision = 7;
    settings.old_per_second = 50;
    const Result<QueueSettings> read = decode_queue_settings(std::string_view("\x02\x07\x18\x32"));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, settings);
}

TEST(QueueSettings, without_members_are_still_settings) {
    QueueSettings settings;
    EXPECT_TRUE(encode_queue_settings(settings).empty()) << "none at all";
    settings.revision = 1;
    const Result<QueueSettings> read = decode_queue_settings(encode_queue_settings(settings));
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(*read, settings);
    EXPECT_FALSE(encode_queue_settings(settings).empty());
}

TEST(QueueSettings, of_a_later_version_are_refused) {
    const Result<QueueSettings> read = decode_queue_settings(encode_queue_settings(everything()) + "\xc8\x01\x05");
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, "newer_format"_code);
}

TEST(QueueSettings, with_a_webhook_are_read_no_further_than_they_make_sense) {
    WebhookTarget target{"https://example.com/in", {}, 0, 0, 0};
    EXPECT_EQ(decode_fields<WebhookTarget>(encode_fields(target)).value(), target);
    EXPECT_EQ(decode_fields<WebhookTarget>(encode_fields(target) + "\xc8\x01\x05").error().code, "newer_format"_code);
    for (const std::vector<std::string>& names :
         {std::vector<std::string>{"a", ""}, {std::string(65, 'x')}, {"a", "b", "c", "d", "e"}, {"../key"}}) {
        target.secrets = names;
        EXPECT_EQ(decode_fields<WebhookTarget>(encode_fields(target)).error().code, "damaged_record"_code)
            << names.back();
    }
    EXPECT_EQ(decode_fields<WebhookTarget>("").error().code, "damaged_record"_code) << "without a URL";
    target.secrets.clear();
    target.headers = {{"Authorization", "Bearer a:b"}, {"X-Empty", ""}};
    const std::string with_headers = encode_fields(target);
    EXPECT_EQ(decode_fields<WebhookTarget>(with_headers).value(), target);
    for (const auto& [whole, broken] : {std::pair("X-Empty:\n", "X-Empty:x"), std::pair("X-Empty:\n", "X-Empty.\n"),
                                        std::pair("X-Empty:\n", ":-Empty:\n")}) {
        std::string bytes = with_headers;
        bytes.replace(bytes.find(whole), std::string_view(whole).size(), broken);
        EXPECT_EQ(decode_fields<WebhookTarget>(bytes).error().code, "damaged_record"_code) << broken;
    }
    // An earlier version would post encrypted values as they are: it must not know this field.
    WebhookTarget sealed{"https://example.com/in", {}, 0, 0, 0};
    sealed.headers = {{"X-Plain", "x"}};
    sealed.sealed_headers = {{"Authorization", "AAAA"}, {"X-Empty", ""}};
    EXPECT_EQ(decode_fields<WebhookTarget>(encode_fields(sealed)).value(), sealed);
    sealed.sealed_headers.resize(kWebhookHeadersMax, {"X", "AAAA"});
    EXPECT_EQ(decode_fields<WebhookTarget>(encode_fields(sealed)).error().code, "damaged_record"_code)
        << "one too many";
    target = {std::string(kWebhookUrlBytesMax, 'u'),
              std::vector<std::string>(kWebhookSecretsMax, std::string(kWebhookSecretNameBytesMax, 's')), INT64_MAX,
              UINT32_MAX, UINT32_MAX};
    for (std::size_t i = 0; i < kWebhookHeadersMax; ++i) {
        target.headers.emplace_back("X", std::string(kWebhookHeadersBytesMax / kWebhookHeadersMax - 1, 'v'));
    }
    EXPECT_LE(encode_fields(target).size(), kWebhookTargetBytesMax);
    for (auto& [name, value] : target.headers) {
        const std::size_t plain_bytes = value.size();
        value.resize(((plain_bytes + kSealedHeaderBytes) * 4 + 2) / 3);  // as base64url has it
        EXPECT_EQ(sealed_value_bytes(value), plain_bytes);
    }
    target.sealed_headers.swap(target.headers);
    EXPECT_LE(encode_fields(target).size(), kWebhookTargetBytesMax);
}

TEST(QueueSettings, that_are_cut_short_are_damage) {
    const std::string whole = encode_queue_settings(everything());
    for (std::size_t size = 1; size < whole.size(); ++size) {
        const Result<QueueSettings> read = decode_queue_settings(whole.substr(0, size));
        if (!read) {
            EXPECT_EQ(read.error().code, "damaged_record"_code);
        } else {
            EXPECT_NE(*read, everything());
        }
    }
    EXPECT_EQ(decode_queue_settings("\x04\x01").error().code, "damaged_record"_code) << "paused, but of no revision";
}

ConfRecord settings_record(const std::string& value, std::uint32_t revision_before, const std::string& value_before) {
    ConfRecord record;
    record.subject = Subject::queue;
    record.name = "mail";
    record.value = value;
    if (revision_before == 0) return record;
    record.revision_before = revision_before;
    record.term_before = subject_term(Subject::queue, kDefaultNamespace, "mail", value_before);
    record.record_bytes = 50;
    return record;
}

TEST(QueueSettings, are_in_the_totals_until_they_are_removed) {
    const std::string first = "one";
    const std::string second = "two";
    Totals totals;
    add_to_totals(totals, settings_record(first, 0, ""), 50);
    EXPECT_EQ(totals.digest, subject_term(Subject::queue, kDefaultNamespace, "mail", first));
    EXPECT_EQ(totals.needed_bytes, 50u);
    add_to_totals(totals, settings_record(second, 1, first), 50);
    EXPECT_EQ(totals.digest, subject_term(Subject::queue, kDefaultNamespace, "mail", second));
    EXPECT_EQ(totals.needed_bytes, 50u);
    const std::uint64_t digest = totals.digest;
    add_to_totals(totals, settings_record(second, 2, second), 50);
    EXPECT_EQ(totals.digest, digest) << "carried: they say what they said";
    add_to_totals(totals, settings_record("", 2, second), 30);
    EXPECT_EQ(totals, Totals{});
    EXPECT_NE(subject_term(Subject::queue, "a", "bc", "d"), subject_term(Subject::queue, "ab", "c", "d"));
}

TEST(QueueCounts, follow_each_message_from_state_to_state) {
    QueueCounts counts;
    counts.enter(State::scheduled);
    counts.enter(State::held);
    counts.enter(State::dead);
    EXPECT_EQ(counts.pending, 2u);
    EXPECT_EQ(counts.held, 1u);
    EXPECT_EQ(counts.dead, 1u);
    counts.leave(State::held);
    counts.enter(State::done);
    counts.leave(State::scheduled);
    counts.leave(State::dead);
    EXPECT_TRUE(counts.empty());
    EXPECT_EQ(counts, QueueCounts{});
    QueueCounts difference;
    difference.leave(State::scheduled);
    counts.enter(State::scheduled);
    counts.add(difference);
    EXPECT_EQ(counts, QueueCounts{});
}

}  // namespace
}  // namespace duewheel::queue_settings_test

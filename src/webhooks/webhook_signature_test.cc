#include "webhooks/webhook_signature.h"

#include <gtest/gtest.h>

#include "base/error_codes.h"

namespace duewheel::webhook_signature_test {
namespace {

std::vector<Secret> secrets(std::initializer_list<const char*> texts) {
    std::vector<Secret> all;
    for (const char* text : texts) all.emplace_back(std::string(text));
    return all;
}

// What the public `standardwebhooks` packages sign for this id, time and body.
constexpr const char* kSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
constexpr std::string_view kId = "msg_p5jXN8AQM9LWM0D4loKWxJek";
constexpr std::int64_t kTime = 1614265330;
constexpr std::string_view kBody = R"({"test": 2432232314})";
constexpr std::string_view kSigned = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

TEST(WebhookSignature, is_that_of_the_standard) {
    const auto keys = secrets({kSecret});
    const WebhookSigner signer = *WebhookSigner::from(keys);
    EXPECT_TRUE(signer.has_keys());
    EXPECT_EQ(signer.sign(kId, kTime, kBody), kSigned);
    EXPECT_NE(signer.sign(kId, kTime + 1, kBody), kSigned);
    EXPECT_NE(signer.sign("msg_other", kTime, kBody), kSigned);
    EXPECT_NE(signer.sign(kId, kTime, ""), kSigned);
}

// RFC 8032, 7.1, test 1: the seed, and the seed with its public half, which is compared with the calculated one.
constexpr const char* kSeed = "whsk_nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=";
constexpr const char* kPair =
    "whsk_nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2DXWpgBgrEKt9VL/tPJZAc6DuFy89qmIyWvAhpo9wdRGg==";

TEST(WebhookSignature, with_ed25519_needs_no_secret_to_be_checked) {
    const auto seed = secrets({kSeed});
    const auto pair = secrets({kPair});
    const WebhookSigner signer = *WebhookSigner::from(seed);
    const std::string signature = signer.sign(kId, kTime, kBody);
    EXPECT_TRUE(signature.starts_with("v1a,"));
    EXPECT_EQ(signature.size(), std::string_view("v1a,").size() + 88);
    EXPECT_EQ(signature, WebhookSigner::from(pair)->sign(kId, kTime, kBody)) << "the same key";
    EXPECT_NE(signature, signer.sign(kId, kTime, "other"));
}

TEST(WebhookSignature, of_each_key_while_they_are_being_changed) {
    const auto keys = secrets({kSecret, kSeed});
    const std::string both = WebhookSigner::from(keys)->sign(kId, kTime, kBody);
    EXPECT_TRUE(both.starts_with(std::string(kSigned) + " v1a,")) << both;
    EXPECT_EQ(WebhookSigner().sign(kId, kTime, kBody), "");
    EXPECT_FALSE(WebhookSigner().has_keys());
}

TEST(WebhookSignature, a_bad_secret_is_refused_and_never_shown) {
    for (const char* text :
         {"", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS",
          "whsec_MfKQ9r8GKYqrTwjUPD8ILPZI", "whsec_ MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whpk_AAAA", "whsk_AAAA",
          "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
          "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
          "whsk_nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="}) {
        const auto keys = secrets({text});
        const Result<WebhookSigner> signer = WebhookSigner::from(keys);
        ASSERT_FALSE(signer) << text;
        EXPECT_EQ(signer.error().code, "bad_webhook_secret"_code);
        EXPECT_EQ(signer.error().message.find("MfKQ"), std::string::npos);
        EXPECT_EQ(signer.error().message.find("nWGx"), std::string::npos);
    }
    const auto five = secrets({kSecret, kSecret, kSecret, kSecret, kSecret});
    EXPECT_FALSE(WebhookSigner::from(five));
}

TEST(Secret, is_in_one_place_at_a_time) {
    Secret secret(std::string(64, 'x'));
    const char* const at = secret.reveal().data();
    Secret moved = std::move(secret);
    EXPECT_EQ(moved.reveal().size(), 64u);
    EXPECT_EQ(moved.reveal().data(), at);
    EXPECT_TRUE(secret.empty());
    moved = Secret();
    EXPECT_TRUE(moved.empty());
}

}  // namespace
}  // namespace duewheel::webhook_signature_test

// Header values on disk: an encrypted value can be decrypted with the right key, for the right queue, and in no other
// case.
#include "webhooks/header_cipher.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/base64.h"
#include "base/error_codes.h"
#include "resource/field_codec.h"
#include "support/temporary_directory.h"

namespace duewheel::header_cipher_test {
namespace {

const std::string kHexKey(64, 'a');
const std::string kBase64Key = base64(std::string(32, 'k'));
const QueueName kMail{"default", "mail"};

class Files : public TemporaryDirectory {
  public:
    Result<HeaderCipher> read(const std::string& key, const std::string& old_key = "") {
        WebhookOptions options;
        if (!key.empty()) options.encryption_key_file = write("key", key);
        if (!old_key.empty()) options.old_encryption_key_file = write("old", old_key);
        return HeaderCipher::read(options, path() + "/data");
    }
};

WebhookTarget target() {
    WebhookTarget target{"https://example.com/in", {}, 0, 0, 0};
    target.headers = {{"Authorization", "Bearer s3cret"}, {"X-Empty", ""}};
    return target;
}

std::string opened(const HeaderCipher& cipher, const WebhookTarget& of, const QueueName& queue = kMail) {
    const Result<SecretHeaders> headers = cipher.open(queue, of);
    if (!headers) return std::string(name_of(headers.error().code));
    std::string text;
    for (const auto& [name, value] : *headers) text += name + "=" + std::string(value.reveal()) + ";";
    return text;
}

TEST(HeaderCipher, opens_what_it_has_sealed) {
    Files files;
    for (const std::string& key : {kHexKey, kBase64Key, kHexKey + "\n"}) {
        const HeaderCipher cipher = *files.read(key);
        EXPECT_TRUE(cipher.has_key());
        WebhookTarget sealed = target();
        cipher.seal(kMail, sealed);
        EXPECT_TRUE(sealed.headers.empty());
        ASSERT_EQ(sealed.sealed_headers.size(), 2u);
        EXPECT_EQ(encode_fields(sealed).find("s3cret"), std::string::npos);
        EXPECT_EQ(sealed_value_bytes(sealed.sealed_headers[0].second), std::string("Bearer s3cret").size());
        EXPECT_EQ(sealed_value_bytes(sealed.sealed_headers[1].second), 0u);
        EXPECT_EQ(opened(cipher, sealed), "Authorization=Bearer s3cret;X-Empty=;");
    }
}

TEST(HeaderCipher, without_a_key_leaves_values_as_they_are) {
    const HeaderCipher cipher;
    EXPECT_FALSE(cipher.has_key());
    WebhookTarget plain = target();
    cipher.seal(kMail, plain);
    EXPECT_EQ(plain, target());
    EXPECT_EQ(opened(cipher, plain), "Authorization=Bearer s3cret;X-Empty=;");
}

// The engine writes no record for settings that are what they were.
TEST(HeaderCipher, the_same_value_gives_the_same_ciphertext_and_in_another_queue_another_one) {
    Files files;
    const HeaderCipher cipher = *files.read(kHexKey);
    const auto sealed = [&](const QueueName& queue, const std::string& name, const std::string& value) {
        WebhookTarget of{"u", {}, 0, 0, 0};
        of.headers = {{name, value}};
        cipher.seal(queue, of);
        return of.sealed_headers[0].second;
    };
    const std::string first = sealed(kMail, "A", "one");
    EXPECT_EQ(sealed(kMail, "A", "one"), first);
    EXPECT_NE(sealed(kMail, "A", "two"), first);
    EXPECT_NE(sealed(kMail, "B", "one"), first);
    EXPECT_NE(sealed({"default", "mai"}, "lA", "one"), first);
    EXPECT_NE(sealed({"team", "mail"}, "A", "one"), first);
    WebhookTarget again{"u", {}, 0, 0, 0};
    again.sealed_headers = {{"A", first}};
    cipher.seal(kMail, again);
    EXPECT_EQ(again.sealed_headers[0].second, first) << "a patch that keeps it changes nothing";
}

TEST(HeaderCipher, opens_nothing_that_was_changed_or_moved) {
    Files files;
    const HeaderCipher cipher = *files.read(kHexKey);
    WebhookTarget sealed = target();
    cipher.seal(kMail, sealed);
    EXPECT_EQ(opened(cipher, sealed, {"default", "other"}), "damaged_header_value");
    EXPECT_EQ(opened(cipher, sealed, {"team", "mail"}), "damaged_header_value");
    WebhookTarget swapped = sealed;
    std::swap(swapped.sealed_headers[0].second, swapped.sealed_headers[1].second);
    EXPECT_EQ(opened(cipher, swapped), "damaged_header_value");
    const std::string bytes = *parse_base64url(sealed.sealed_headers[0].second);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        std::string changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ 1);
        WebhookTarget damaged = sealed;
        damaged.sealed_headers[0].second = base64url(changed);
        EXPECT_EQ(opened(cipher, damaged), at < 8 ? "unknown_encryption_key" : "damaged_header_value") << at;
    }
    for (const std::string text : {"", "AAAA", "!", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}) {
        WebhookTarget damaged = sealed;
        damaged.sealed_headers[0].second = text;
        EXPECT_EQ(opened(cipher, damaged), "damaged_header_value") << text;
    }
}

TEST(HeaderCipher, a_replaced_key_opens_what_it_sealed_until_it_is_sealed_again) {
    Files files;
    const HeaderCipher before = *files.read(kHexKey);
    const HeaderCipher both = *files.read(kBase64Key, kHexKey);
    const HeaderCipher after = *files.read(kBase64Key);
    WebhookTarget sealed = target();
    before.seal(kMail, sealed);
    EXPECT_EQ(opened(after, sealed), "unknown_encryption_key");
    EXPECT_EQ(opened(HeaderCipher(), sealed), "unknown_encryption_key") << "never the ciphertext as a value";
    const Result<SecretHeaders> refused = after.open(kMail, sealed);
    EXPECT_NE(refused.error().message.find("webhooks.old_encryption_key_file"), std::string::npos);
    EXPECT_EQ(opened(both, sealed), "Authorization=Bearer s3cret;X-Empty=;");
    WebhookTarget kept = sealed;
    after.seal(kMail, kept);
    EXPECT_EQ(kept, sealed) << "what cannot be opened is not lost";
    both.seal(kMail, sealed);
    EXPECT_EQ(opened(after, sealed), "Authorization=Bearer s3cret;X-Empty=;");
    const HeaderCipher old_only = *files.read("", kHexKey);
    EXPECT_FALSE(old_only.has_key());
}

TEST(HeaderCipher, refuses_files_that_hold_no_key_or_that_others_can_read) {
    Files files;
    const auto refusal = [&](const std::string& text, mode_t mode = 0600) {
        WebhookOptions options;
        options.encryption_key_file = files.write("key", text, mode);
        const Result<HeaderCipher> read = HeaderCipher::read(options, files.path() + "/data");
        if (read) return std::string();
        EXPECT_EQ(read.error().code, "bad_encryption_key"_code);
        EXPECT_TRUE(text.empty() || read.error().message.find(text) == std::string::npos) << "it shows the content";
        return read.error().message;
    };
    EXPECT_EQ(refusal(kHexKey), "");
    EXPECT_EQ(refusal(kHexKey, 0400), "");
    EXPECT_NE(refusal(kHexKey, 0604).find("chmod 600"), std::string::npos);
    EXPECT_NE(refusal(kHexKey, 0620).find("chmod 600"), std::string::npos);
    for (const std::string& text : {std::string(), std::string(63, 'a'), std::string(64, 'g'), base64("short"),
                                    base64(std::string(33, 'k')), std::string(600, 'a')}) {
        EXPECT_NE(refusal(text).find("openssl rand -base64 32"), std::string::npos) << text;
    }
    WebhookOptions options;
    options.old_encryption_key_file = files.path() + "/none";
    EXPECT_EQ(HeaderCipher::read(options, "/data").error().code, "bad_old_encryption_key"_code);
}

// A backup or a copy of the data directory would hold the key beside what it encrypts.
TEST(HeaderCipher, refuses_a_key_in_the_data_directory) {
    Files files;
    std::filesystem::create_directories(files.path() + "/data/sub");
    const std::string inside = files.write("data/sub/key", kHexKey);
    const std::string outside = files.write("data-key", kHexKey);
    std::filesystem::create_symlink(inside, files.path() + "/link");
    std::filesystem::create_directory_symlink(files.path() + "/data", files.path() + "/alias");
    const auto refusal = [&](const std::string& key, const std::string& data) {
        WebhookOptions options;
        options.encryption_key_file = key;
        const Result<HeaderCipher> read = HeaderCipher::read(options, data);
        return read ? "" : read.error().message;
    };
    const std::string data = files.path() + "/data";
    EXPECT_EQ(refusal(outside, data), "");
    EXPECT_EQ(refusal(outside, files.path() + "/not-there-yet"), "");
    for (const std::string& key : {inside, files.path() + "/link", files.path() + "/alias/sub/key"}) {
        EXPECT_NE(refusal(key, data).find("lies in the data directory"), std::string::npos) << key;
        EXPECT_NE(refusal(key, data + "/").find("lies in the data directory"), std::string::npos) << key;
        EXPECT_NE(refusal(key, files.path() + "/alias").find("lies in the data directory"), std::string::npos) << key;
    }
}

}  // namespace
}  // namespace duewheel::header_cipher_test

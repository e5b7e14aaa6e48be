#include "webhooks/webhook_signature.h"

#include <array>
#include <cassert>
#include <optional>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/base64.h"
#include "base/error_codes.h"

namespace duewheel {
namespace {

constexpr std::size_t kSymmetricBytesMin = 24;
constexpr std::size_t kSymmetricBytesMax = 64;
constexpr std::size_t kSeedBytes = 32;
constexpr std::size_t kPublicBytes = 32;
constexpr std::size_t kSignatureBytes = 64;
constexpr std::string_view kSymmetric = "whsec_";
constexpr std::string_view kPrivate = "whsk_";

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}
std::string_view text_of(const unsigned char* bytes, std::size_t size) {
    return {reinterpret_cast<const char*>(bytes), size};
}

Error refuse_secret(std::string why) {
    return {"bad_webhook_secret"_code, std::move(why), "secret"};
}

struct FreeKey {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeDigest {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

}  // namespace

struct WebhookSigner::Key {
    Secret symmetric;                         // or
    std::unique_ptr<EVP_PKEY, FreeKey> pair;  // of ed25519

    std::string sign(std::string_view content) const {
        std::array<unsigned char, kSignatureBytes> signature{};
        if (pair == nullptr) {
            unsigned length = 0;
            const std::string_view key = symmetric.reveal();
            const unsigned char* const done = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                                                   bytes_of(content), content.size(), signature.data(), &length);
            assert(done != nullptr);
            return done == nullptr ? "" : "v1," + base64(text_of(signature.data(), length));
        }
        const std::unique_ptr<EVP_MD_CTX, FreeDigest> context(EVP_MD_CTX_new());
        std::size_t length = signature.size();
        const bool done =
            context != nullptr && EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, pair.get()) == 1 &&
            EVP_DigestSign(context.get(), signature.data(), &length, bytes_of(content), content.size()) == 1;
        assert(done);
        return done ? "v1a," + base64(text_of(signature.data(), length)) : "";
    }
    std::string public_half() const {
        std::array<unsigned char, kPublicBytes> key_bytes{};
        std::size_t length = key_bytes.size();
        const bool done = EVP_PKEY_get_raw_public_key(pair.get(), key_bytes.data(), &length) == 1;
        assert(done);
        return done ? std::string(text_of(key_bytes.data(), length)) : std::string();
    }
};

WebhookSigner::WebhookSigner() = default;
WebhookSigner::~WebhookSigner() = default;
WebhookSigner::WebhookSigner(WebhookSigner&&) noexcept = default;
WebhookSigner& WebhookSigner::operator=(WebhookSigner&&) noexcept = default;

Result<std::unique_ptr<WebhookSigner::Key>> WebhookSigner::read(const Secret& text) {
    const std::string_view all = text.reveal();
    const bool is_symmetric = all.starts_with(kSymmetric);
    if (!is_symmetric && !all.starts_with(kPrivate)) {
        return refuse_secret("A secret begins with `whsec_`, or with `whsk_` for an Ed25519 key.");
    }
    std::optional<std::string> decoded = parse_base64(all.substr(is_symmetric ? kSymmetric.size() : kPrivate.size()));
    if (!decoded) return refuse_secret("The part of a secret after `_` must be base64 with padding.");
    Secret bytes(*std::move(decoded));
    const std::string_view raw = bytes.reveal();
    auto key = std::make_unique<Key>();
    if (is_symmetric) {
        if (raw.size() < kSymmetricBytesMin || raw.size() > kSymmetricBytesMax) {
            return refuse_secret("A `whsec_` secret is 24 to 64 bytes in base64.");
        }
        key->symmetric = std::move(bytes);
        return key;
    }
    if (raw.size() != kSeedBytes && raw.size() != kSeedBytes + kPublicBytes) {
        return refuse_secret("A `whsk_` key is 32 bytes in base64, or 64 with its public key.");
    }
    key->pair.reset(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes_of(raw), kSeedBytes));
    if (key->pair == nullptr) return refuse_secret("The cryptographic library rejected a `whsk_` key.");
    if (raw.size() > kSeedBytes && raw.substr(kSeedBytes) != key->public_half()) {
        return refuse_secret("The second part of a `whsk_` key is not the public key of the first.");
    }
    return key;
}

Result<WebhookSigner> WebhookSigner::from(std::span<const Secret> keys) {
    if (keys.size() > kKeysMax) return refuse_secret("A webhook has up to four secrets.");
    WebhookSigner signer;
    for (const Secret& text : keys) {
        Result<std::unique_ptr<Key>> key = read(text);
        if (!key) return std::move(key).error();
        signer.keys_.push_back(*std::move(key));
    }
    return signer;
}

std::string WebhookSigner::sign(std::string_view id, std::int64_t timestamp_s, std::string_view body) const {
    std::string content;
    content.reserve(id.size() + body.size() + 24);
    content.append(id).append(".").append(std::to_string(timestamp_s)).append(".").append(body);
    std::string signatures;
    for (const std::unique_ptr<Key>& key : keys_) {
        if (!signatures.empty()) signatures += ' ';
        signatures += key->sign(content);
    }
    return signatures;
}

}  // namespace duewheel

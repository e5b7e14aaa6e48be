#include "access/access_token_text.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <span>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/base64.h"
#include "base/secure_random.h"

namespace duewheel {
namespace {

constexpr std::string_view kPrefix = "dw_";
constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kSecretTextBytes = 43;  // 32 bytes as base64url without padding

bool is_secret_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

}  // namespace

bool is_access_token_id(std::string_view id) {
    return !id.empty() && id.size() <= kAccessTokenIdBytesMax && std::all_of(id.begin(), id.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    });
}

Result<Secret> make_token_secret() {
    std::array<std::byte, kSecretBytes> bytes{};
    if (Status filled = secure_random_bytes(bytes); !filled) return std::move(filled).error();
    Secret raw(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    OPENSSL_cleanse(bytes.data(), bytes.size());
    return Secret(base64url(raw.reveal()));
}

Secret access_token_text(std::string_view id, const Secret& secret) {
    std::string text;
    // Reserved at once: a string that grows leaves copies of the secret in freed memory.
    text.reserve(kPrefix.size() + id.size() + 1 + secret.reveal().size());
    text.append(kPrefix).append(id).append("_").append(secret.reveal());
    return Secret(std::move(text));
}

std::optional<PresentedToken> parse_access_token(std::string_view text) {
    if (!text.starts_with(kPrefix)) return std::nullopt;
    text.remove_prefix(kPrefix.size());
    const std::size_t end = text.find('_');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view id = text.substr(0, end);
    const std::string_view secret = text.substr(end + 1);
    if (!is_access_token_id(id) || secret.size() != kSecretTextBytes) return std::nullopt;
    if (!std::all_of(secret.begin(), secret.end(), is_secret_character)) return std::nullopt;
    return PresentedToken{id, Secret(std::string(secret))};
}

SecretHash hash_of_secret(const Secret& secret) {
    // Fetched once: EVP_Digest() and SHA256() look the algorithm up with each call, which takes longer than the hash.
    static const EVP_MD* const sha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    thread_local const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                                       &EVP_MD_CTX_free);
    const std::string_view bytes = secret.reveal();
    SecretHash hash{};
    const bool done = sha256 != nullptr && context != nullptr &&
                      EVP_DigestInit_ex2(context.get(), sha256, nullptr) == 1 &&
                      EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1 &&
                      EVP_DigestFinal_ex(context.get(), reinterpret_cast<unsigned char*>(hash.data()), nullptr) == 1;
    if (!done) std::abort();  // no memory, or an OpenSSL without SHA-256
    return hash;
}

bool is_same_hash(const SecretHash& left, const SecretHash& right) {
    return CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

}  // namespace duewheel

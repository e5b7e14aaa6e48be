#include "webhooks/header_cipher.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/base64.h"
#include "base/error_codes.h"
#include "base/hex.h"
#include "webhooks/secret_file.h"

namespace duewheel {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kKeyIdBytes = 8;
constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;
static_assert(kSealedHeaderBytes == kKeyIdBytes + kNonceBytes + kTagBytes);

const unsigned char* octets(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* octets(std::string& text) {
    return reinterpret_cast<unsigned char*>(text.data());
}

// The library fails here only without memory. A value that is not encrypted must not be stored, so the process ends.
void must(bool done) {
    if (!done) std::abort();
}

struct FreeCipher {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, FreeCipher>;

std::string keyed_hash(const Secret& key, std::string_view text) {
    std::string hash(EVP_MAX_MD_SIZE, '\0');
    unsigned size = 0;
    must(HMAC(EVP_sha256(), key.reveal().data(), static_cast<int>(key.reveal().size()), octets(text), text.size(),
              octets(hash), &size) != nullptr);
    hash.resize(size);
    return hash;
}

// Each part after its length, so that no two lists of parts have the same text. O(size).
std::string joined(std::initializer_list<std::string_view> parts) {
    std::string text;
    for (const std::string_view part : parts) text.append(std::to_string(part.size())).append(":").append(part);
    return text;
}

std::optional<Secret> parse_key(std::string_view text) {
    if (text.size() == 2 * kKeyBytes) {
        std::string bytes;
        for (std::size_t at = 0; at < text.size(); at += 2) {
            const int high = hex_digit_value(text[at]);
            const int low = hex_digit_value(text[at + 1]);
            if (high < 0 || low < 0) return std::nullopt;
            bytes += static_cast<char>(high << 4 | low);
        }
        return Secret(std::move(bytes));
    }
    std::optional<std::string> bytes = parse_base64(text);
    if (!bytes || bytes->size() != kKeyBytes) return std::nullopt;
    return Secret(*std::move(bytes));
}

bool is_inside(const std::string& path, const std::string& directory) {
    std::error_code unknown;
    const std::filesystem::path inner = std::filesystem::weakly_canonical(path, unknown);
    const std::filesystem::path outer = std::filesystem::weakly_canonical(directory, unknown) / "";
    const auto [end, rest] = std::mismatch(outer.begin(), std::prev(outer.end()), inner.begin(), inner.end());
    return end == std::prev(outer.end());
}

std::string key_id_text(std::string_view id) {
    return hex(std::as_bytes(std::span(id)));
}

}  // namespace

Result<HeaderCipher::Key> HeaderCipher::read_key(const std::string& path, std::string_view setting, ErrorCode code,
                                                 const std::string& data_directory) {
    const std::string what = "the setting " + std::string(setting);
    if (is_inside(path, data_directory)) {
        return Error{code, "the file " + path + " of " + what + " lies in the data directory " + data_directory +
                               ", so a copy of the data would hold its key; move the file to another directory"};
    }
    const Result<Secret> text = read_secret_file(path, what, code);
    if (!text) return text.error();
    const std::optional<Secret> master = parse_key(text->reveal());
    if (!master) {
        return Error{code, "the file " + path + " of " + what +
                               " holds no key; write 32 random bytes to it, as hex or base64: openssl rand -base64 32"};
    }
    Key key;
    key.id = keyed_hash(*master, "duewheel header key id").substr(0, kKeyIdBytes);
    key.encryption = Secret(keyed_hash(*master, "duewheel header encryption"));
    key.nonce = Secret(keyed_hash(*master, "duewheel header nonce"));
    return key;
}

Result<HeaderCipher> HeaderCipher::read(const WebhookOptions& options, const std::string& data_directory) {
    HeaderCipher cipher;
    if (!options.encryption_key_file.empty()) {
        Result<Key> key = read_key(options.encryption_key_file, "webhooks.encryption_key_file",
                                   "bad_encryption_key"_code, data_directory);
        if (!key) return std::move(key).error();
        cipher.keys_.push_back(*std::move(key));
        cipher.seals_ = true;
    }
    if (!options.old_encryption_key_file.empty()) {
        Result<Key> key = read_key(options.old_encryption_key_file, "webhooks.old_encryption_key_file",
                                   "bad_old_encryption_key"_code, data_directory);
        if (!key) return std::move(key).error();
        cipher.keys_.push_back(*std::move(key));
    }
    return cipher;
}

std::string HeaderCipher::seal_value(const Key& key, std::string_view bound_to, const Secret& value) {
    const std::string_view plain = value.reveal();
    const Secret hashed{joined({bound_to, plain})};
    const std::string nonce = keyed_hash(key.nonce, hashed.reveal()).substr(0, kNonceBytes);
    const CipherContext context(EVP_CIPHER_CTX_new());
    must(context != nullptr);
    must(EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, octets(key.encryption.reveal()),
                            octets(std::string_view(nonce))) == 1);
    int size = 0;
    must(EVP_EncryptUpdate(context.get(), nullptr, &size, octets(bound_to), static_cast<int>(bound_to.size())) == 1);
    std::string ciphertext(plain.size(), '\0');
    must(EVP_EncryptUpdate(context.get(), octets(ciphertext), &size, octets(plain), static_cast<int>(plain.size())) ==
         1);
    must(EVP_EncryptFinal_ex(context.get(), octets(ciphertext) + size, &size) == 1);
    std::string tag(kTagBytes, '\0');
    must(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, octets(tag)) == 1);
    return base64url(key.id + nonce + ciphertext + tag);
}

Result<Secret> HeaderCipher::open_value(std::string_view bound_to, std::string_view header,
                                        std::string_view sealed) const {
    const std::optional<std::string> bytes = parse_base64url(sealed);
    const auto damaged = [&] {
        return Error{"damaged_header_value"_code, "the encrypted value of the header " + std::string(header) +
                                                      " is damaged or belongs to another queue; set the header again"};
    };
    if (!bytes || bytes->size() < kSealedHeaderBytes) return damaged();
    const std::string_view id = std::string_view(*bytes).substr(0, kKeyIdBytes);
    const auto key = std::find_if(keys_.begin(), keys_.end(), [&](const Key& each) { return each.id == id; });
    if (key == keys_.end()) {
        return Error{"unknown_encryption_key"_code,
                     "the value of the header " + std::string(header) + " is encrypted with the key " +
                         key_id_text(id) +
                         ", which is not configured; name the file of that key in webhooks.encryption_key_file or "
                         "webhooks.old_encryption_key_file, or set the header again"};
    }
    const std::string_view nonce = std::string_view(*bytes).substr(kKeyIdBytes, kNonceBytes);
    const std::string_view ciphertext =
        std::string_view(*bytes).substr(kKeyIdBytes + kNonceBytes, bytes->size() - kSealedHeaderBytes);
    std::string tag = bytes->substr(bytes->size() - kTagBytes);
    const CipherContext context(EVP_CIPHER_CTX_new());
    must(context != nullptr);
    must(EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, octets(key->encryption.reveal()),
                            octets(nonce)) == 1);
    int size = 0;
    must(EVP_DecryptUpdate(context.get(), nullptr, &size, octets(bound_to), static_cast<int>(bound_to.size())) == 1);
    std::string plain(ciphertext.size(), '\0');
    must(EVP_DecryptUpdate(context.get(), octets(plain), &size, octets(ciphertext),
                           static_cast<int>(ciphertext.size())) == 1);
    must(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, octets(tag)) == 1);
    const bool is_genuine = EVP_DecryptFinal_ex(context.get(), octets(plain) + size, &size) == 1;
    Secret value(std::move(plain));
    if (!is_genuine) return damaged();
    return value;
}

void HeaderCipher::seal(const QueueName& queue, WebhookTarget& target) const {
    if (!seals_) return;
    const auto bound_to = [&](std::string_view header) { return joined({queue.name_space, queue.queue, header}); };
    for (auto& [name, value] : target.sealed_headers) {
        const Result<Secret> opened = open_value(bound_to(name), name, value);
        if (opened) value = seal_value(keys_.front(), bound_to(name), *opened);
    }
    for (auto& [name, value] : target.headers) {
        const Secret plain(std::move(value));
        target.sealed_headers.emplace_back(name, seal_value(keys_.front(), bound_to(name), plain));
    }
    target.headers.clear();
}

Result<SecretHeaders> HeaderCipher::open(const QueueName& queue, const WebhookTarget& target) const {
    SecretHeaders headers;
    for (const auto& [name, value] : target.headers) headers.emplace_back(name, Secret(value));
    for (const auto& [name, value] : target.sealed_headers) {
        Result<Secret> opened = open_value(joined({queue.name_space, queue.queue, name}), name, value);
        if (!opened) return std::move(opened).error();
        headers.emplace_back(name, *std::move(opened));
    }
    return headers;
}

}  // namespace duewheel

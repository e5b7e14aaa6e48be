// Encrypts the header values of webhooks, which may be secrets of receivers, so that log, index and backups hold only
// ciphertext: AES-256-GCM with a key from a file outside the data directory.
//
//     sealed value = base64url(key id, 8 bytes | nonce, 12 bytes | ciphertext | tag, 16 bytes)
//
// Each value is bound to its namespace, queue and header name (the associated data), so that a ciphertext copied to
// another queue does not open there. The nonce is derived from the value and the associated data under a subkey of its
// own, as in SIV (RFC 5297): setting the same value again gives the same ciphertext, which the engine recognises as no
// change, and a nonce is never used for two values. An observer of the disk learns only whether a header of a queue
// was set to its earlier value again, and how long the value is.
//
// The key id is derived from the key. It tells which key a value needs, so a wrong key is reported as such. Immutable;
// any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/secret.h"
#include "base/status.h"
#include "engine/commands/target_queue.h"
#include "resource/webhook_target.h"
#include "webhooks/webhook_options.h"

namespace duewheel {

// Names with their values.
using SecretHeaders = std::vector<std::pair<std::string, Secret>>;

class HeaderCipher {
  public:
    // Without a key: seals nothing and opens nothing.
    HeaderCipher() = default;

    // With the keys that the options name: one that seals, and an old one that only opens. A key is 32 bytes, as hex or
    // base64. Codes `bad_encryption_key` and `bad_old_encryption_key`: the file cannot be read, other users may read
    // it, it lies in `data_directory`, or it holds no key. Reads the disk.
    static Result<HeaderCipher> read(const WebhookOptions& options, const std::string& data_directory);

    bool has_key() const { return seals_; }

    // Encrypts every header. Values under the old key are encrypted again; values that no key opens stay as they are.
    void seal(const QueueName& queue, WebhookTarget& target) const;

    // All headers, as they are posted. Codes `unknown_encryption_key`: a value needs a key that is not configured;
    // `damaged_header_value`.
    Result<SecretHeaders> open(const QueueName& queue, const WebhookTarget& target) const;

  private:
    struct Key {
        std::string id;
        Secret encryption;
        Secret nonce;
    };

    static Result<Key> read_key(const std::string& path, std::string_view setting, ErrorCode code,
                                const std::string& data_directory);
    static std::string seal_value(const Key& key, std::string_view bound_to, const Secret& value);
    Result<Secret> open_value(std::string_view bound_to, std::string_view header, std::string_view sealed) const;

    std::vector<Key> keys_;  // the one that seals first
    bool seals_ = false;
};

}  // namespace duewheel

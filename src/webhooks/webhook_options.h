// The settings of webhooks, with the defaults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace duewheel {

struct WebhookOptions {
    bool post = true;  // if false, their messages wait

    std::vector<std::string> secret_files;      // "name=path"
    std::vector<std::string> secret_queues;     // "name=namespace/prefix": who may name them
    std::string encryption_key_file;            // encrypts header values on disk; empty: they are kept as they are
    std::string old_encryption_key_file;        // decrypts those of before the key was replaced
    std::vector<std::string> allowed_networks;  // beside the public ones: "10.1.0.0/16"
    std::string trusted_file;                   // certificates in PEM; empty: the system's

    // Defaults of queues, and their maximum values.
    std::int64_t timeout_ms = 15'000;
    std::int64_t timeout_max_ms = 300'000;
    std::uint32_t concurrency = 64;
    std::uint32_t concurrency_max = 1'000;

    std::size_t connections_max = 1'000;  // posts in progress at a time, of all queues
    std::size_t answer_bytes_max = 64u << 10;
    std::size_t bytes_in_flight_max = 64u << 20;  // bodies of leased messages until their posts end
    std::int64_t retry_after_max_ms = 3'600'000;  // a longer pause that a target asks for is shortened
};

}  // namespace duewheel

// The options with which a server refuses to start on any machine: checked before anything is opened, and by
// `duewheeld --print-config`, which must not accept settings that the start refuses. What depends on the machine (a
// port in use, a directory that is not writable) is only found at the start.
#pragma once

#include <string_view>

#include "base/status.h"
#include "server/limits/server_options.h"

namespace duewheel {

// Codes: bad_address, bad_host, unsafe_data_directory, unsafe_listen, those of webhooks and of TlsContext::load().
// `now_ms`: the wall clock's time, for the certificate.
Status check_options(const ServerOptions& options, InstantMs now_ms);

// What a server beyond loopback lacks, as in "The server ...". Empty: nothing, it has TLS and requires tokens.
std::string lack_of_defence(const ServerOptions& options);

// Whether requests need an access token.
bool requires_tokens(const ServerOptions& options);

// Whether an address to listen on is a loopback one.
bool is_loopback(std::string_view address);

}  // namespace duewheel

// Where the server is and how the command line identifies itself to it: the global options, and their variables.
//
// A token is never an argument, because every user of the machine can read the arguments of a process.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "base/status.h"
#include "net/http/http_client.h"

namespace duewheel {

struct ServerAccess {
    std::string url = "http://127.0.0.1:7420";
    std::string ca_file;
    std::string client_certificate;
    std::string client_key;
    std::string token_file;
    bool insecure = false;

    void add_to(CLI::App& program);

    // With the token: that of DUEWHEEL_TOKEN, else the content of the token file, without a line end. Codes:
    // unreadable_token_file, unsafe_token_file and unsafe_key_file (other users may read it), bad_token.
    Result<HttpClientOptions> client_options() const;
};

}  // namespace duewheel

#include "server_access.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <sys/stat.h>

#include "base/error_codes.h"

namespace duewheel {
namespace {

constexpr std::size_t kTokenFileBytesMax = 8 * 1024;

Result<std::string> read_token_file(const std::string& path) {
    const auto unreadable = [&] {
        return Error{"unreadable_token_file"_code,
                     "Cannot read the token file " + path + ": " + std::strerror(errno) + "."};
    };
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
    if (!file) return unreadable();
    struct stat status {};
    if (::fstat(::fileno(file.get()), &status) != 0) return unreadable();
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return Error{"unsafe_token_file"_code, "Other users may read or change the token file " + path +
                                                   ": run chmod 600 on it, and replace the "
                                                   "token if they may have read it."};
    }
    std::string token(kTokenFileBytesMax + 1, '\0');
    token.resize(std::fread(token.data(), 1, token.size(), file.get()));
    if (std::ferror(file.get()) != 0) return unreadable();
    while (token.ends_with('\n') || token.ends_with('\r')) token.pop_back();
    return token;
}

// A file that cannot be read, or that holds no key, is reported when the connection needs it.
Status check_key_file(const std::string& path) {
    constexpr std::size_t kBytesMax = 64 * 1024;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
    struct stat status {};
    if (!file || ::fstat(::fileno(file.get()), &status) != 0) return {};
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) == 0) return {};
    std::string text(kBytesMax, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file.get()));
    if (text.find("PRIVATE KEY-----") == std::string::npos) return {};
    return Error{"unsafe_key_file"_code,
                 "Other users may read or change the client key in " + path +
                     ": run chmod 600 on the file, and replace the key if they may have read it."};
}

}  // namespace

void ServerAccess::add_to(CLI::App& program) {
    program.add_option("--server", url, "Address of the server: http:// or https://")
        ->envname("DUEWHEEL_SERVER")
        ->type_name("URL")
        ->capture_default_str();
    program
        .add_option("--ca-file", ca_file,
                    "PEM file of certificate authorities for https://; default: those of the system")
        ->envname("DUEWHEEL_CA_FILE")
        ->type_name("FILE");
    CLI::Option* certificate = program.add_option("--client-certificate", client_certificate,
                                                  "PEM file with a client certificate for the server");
    certificate->type_name("FILE");
    program
        .add_option("--client-key", client_key, "PEM file of mode 0600 with its private key; default: the same file")
        ->type_name("FILE")
        ->needs(certificate);
    program
        .add_option("--token-file", token_file,
                    "File of mode 0600 with the token to send; the variable DUEWHEEL_TOKEN has priority")
        ->envname("DUEWHEEL_TOKEN_FILE")
        ->type_name("FILE");
    program
        .add_flag("--insecure", insecure,
                  "Send the token over http:// beyond this machine, where others may be able to read it")
        ->envname("DUEWHEEL_INSECURE");
}

Result<HttpClientOptions> ServerAccess::client_options() const {
    HttpClientOptions options{.server = url,
                              .ca_file = ca_file,
                              .client_certificate = client_certificate,
                              .client_key = client_key,
                              .insecure = insecure};
    if (Status safe = check_key_file(client_key.empty() ? client_certificate : client_key); !safe) {
        return std::move(safe).error();
    }
    const char* const variable = std::getenv("DUEWHEEL_TOKEN");
    const bool has_variable = variable != nullptr && *variable != '\0';
    if (!has_variable && token_file.empty()) return options;
    Result<std::string> token = has_variable ? std::string(variable) : read_token_file(token_file);
    if (!token) return std::move(token).error();
    const bool is_visible = std::all_of(token->begin(), token->end(), [](char c) { return c > ' ' && c < '\x7f'; });
    if (token->empty() || token->size() > kTokenFileBytesMax || !is_visible) {
        return Error{"bad_token"_code, (has_variable ? "DUEWHEEL_TOKEN" : "The file " + token_file) +
                                           " does not hold a token: visible ASCII characters without spaces."};
    }
    options.token = *std::move(token);
    return options;
}

}  // namespace duewheel

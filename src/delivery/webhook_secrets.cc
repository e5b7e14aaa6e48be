#include "delivery/webhook_secrets.h"

#include <array>

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message/webhook_target.h"

namespace duewheel {
namespace {

constexpr std::size_t kFileBytesMax = 512;

Error bad(std::string message) {
    return Error{"bad_webhook_secret", std::move(message)};
}

struct OpenFile {
    const int fd;
    ~OpenFile() {
        if (fd >= 0) ::close(fd);
    }
};

Result<Secret> read_file(const std::string& name, const std::string& path) {
    const std::string which = "the file " + path + " of the webhook secret " + name;
    const OpenFile file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    struct stat about {};
    if (file.fd < 0 || ::fstat(file.fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        return bad(which + " cannot be read; check its path and permissions");
    }
    if ((about.st_mode & (S_IWGRP | S_IRWXO)) != 0) {
        return bad(which +
                   " can be read or changed by other users; run chmod 600 on it, and replace the secret if it may have "
                   "been read");
    }
    std::array<char, kFileBytesMax + 1> bytes{};
    const ssize_t size = ::read(file.fd, bytes.data(), bytes.size());
    std::string_view text(bytes.data(), static_cast<std::size_t>(size > 0 ? size : 0));
    if (text.size() > kFileBytesMax) text = {};
    while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
    Secret secret{std::string(text)};
    ::explicit_bzero(bytes.data(), bytes.size());
    const std::array<Secret, 1> alone{secret};
    if (const Result<WebhookSigner> signer = WebhookSigner::from(alone); !signer) {
        return bad(which + " holds no valid secret: " + signer.error().message);
    }
    return secret;
}

}  // namespace

Result<WebhookSecrets> WebhookSecrets::read(std::span<const std::string> files) {
    WebhookSecrets all;
    for (const std::string& each : files) {
        const std::size_t equals = each.find('=');
        const std::string name = each.substr(0, equals);
        if (equals == std::string::npos || !is_webhook_secret_name(name)) {
            return bad("a webhook secret is given as NAME=FILE, with a name of up to " +
                       std::to_string(kWebhookSecretNameBytesMax) +
                       " letters, digits and . _ - , such as billing=/etc/duewheel/billing.secret");
        }
        if (all.has(name)) return bad("the webhook secret " + name + " is given twice; give each secret its own name");
        Result<Secret> secret = read_file(name, each.substr(equals + 1));
        if (!secret) return std::move(secret).error();
        all.secrets_.emplace(name, *std::move(secret));
    }
    return all;
}

Result<WebhookSigner> WebhookSecrets::signer(std::span<const std::string> names) const {
    std::vector<Secret> keys;
    for (const std::string& name : names) {
        const auto found = secrets_.find(name);
        if (found == secrets_.end()) {
            return bad("unknown webhook secret \"" + name +
                       "\"; add it to the setting webhooks.secrets, or use a secret from there");
        }
        keys.push_back(found->second);
    }
    return WebhookSigner::from(keys);
}

}  // namespace duewheel

#include "server/process/certificate_files.h"

#include <utility>

#include <sys/stat.h>

#include "base/disk_guard.h"
#include "base/error_codes.h"

namespace duewheel {

Status check_tls_files(const TlsFiles& files, InstantMs now_ms) {
    if (files.certificate.empty() && files.key.empty() && files.client_ca.empty()) return {};
    if (files.certificate.empty()) {
        if (files.key.empty()) {
            return Error{"bad_tls_client_ca"_code,
                         "the setting tls.client_ca is set without tls.certificate and tls.key; set these too, or "
                         "remove it"};
        }
        return Error{"bad_tls_key"_code,
                     "the setting tls.key is set without tls.certificate; set both for TLS, or neither"};
    }
    if (files.key.empty()) {
        return Error{"bad_tls_certificate"_code,
                     "the setting tls.certificate is set without tls.key; set both for TLS, or neither"};
    }
    if (auto loaded = TlsContext::load(files, now_ms); !loaded) return std::move(loaded).error();
    return {};
}

Result<CertificateFiles::Context> CertificateFiles::load(InstantMs now_ms) {
    read_ = seen_ = read_stamps();
    Result<std::unique_ptr<TlsContext>> loaded = TlsContext::load(files_, now_ms);
    if (!loaded) return std::move(loaded).error();
    return Context(*std::move(loaded));
}

std::optional<Result<CertificateFiles::Context>> CertificateFiles::check(InstantMs now_ms) {
    const Stamps before = std::exchange(seen_, read_stamps());
    if (seen_ == read_ || seen_ != before) return std::nullopt;
    return load(now_ms);
}

CertificateFiles::Stamps CertificateFiles::read_stamps() const {
    assert_disk_is_allowed();
    Stamps stamps{};
    const std::array<const std::string*, 3> paths{&files_.certificate, &files_.key, &files_.client_ca};
    for (std::size_t i = 0; i < paths.size(); ++i) {
        struct stat about {};
        if (paths[i]->empty() || ::stat(paths[i]->c_str(), &about) != 0) continue;
        stamps[i] = {about.st_dev, about.st_ino, static_cast<std::uint64_t>(about.st_size),
                     about.st_ctim.tv_sec * std::int64_t{1'000'000'000} + about.st_ctim.tv_nsec};
    }
    return stamps;
}

}  // namespace duewheel

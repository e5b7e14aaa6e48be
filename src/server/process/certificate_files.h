// The files of the TLS certificate, read again when they change. Reads the disk, so the caller chooses the thread;
// takes the time as an argument.
//
// Two files cannot be replaced in one step, so they are read when they have not changed between two checks. A file is
// identified by its size, its times and its inode; symbolic links are followed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/status.h"
#include "net/tls_context.h"
#include "shared/instant.h"

namespace duewheel {

// Whether the settings go together and the files can be used, beginning at `now_ms`. Without TLS: yes. Codes: those of
// TlsContext::load().
Status check_tls_files(const TlsFiles& files, InstantMs now_ms);

class CertificateFiles {
  public:
    // Shared: it travels to another thread in a std::function.
    using Context = std::shared_ptr<const TlsContext>;

    explicit CertificateFiles(TlsFiles files) : files_(std::move(files)) {}

    // Reads the files whether they changed or not. Codes: those of TlsContext::load().
    Result<Context> load(InstantMs now_ms);
    // Reads the files if they changed since they were last read, and not since the last check; each state of them once,
    // usable or not.
    std::optional<Result<Context>> check(InstantMs now_ms);

  private:
    struct Stamp {
        std::uint64_t device = 0, inode = 0, size = 0;
        std::int64_t changed_ns = 0;  // a file may keep the time of its content when it is moved here

        bool operator==(const Stamp&) const = default;
    };
    using Stamps = std::array<Stamp, 3>;

    Stamps read_stamps() const;

    const TlsFiles files_;
    Stamps read_{};  // before they were last read
    Stamps seen_{};  // by the last check
};

}  // namespace duewheel

// Notices which party fills the audit log. Each change that was carried out has its line, so a party with valid rights
// can fill the log up to its maximum size, and older lines are then removed before their time. Its changes are not
// refused: programs that set schedules or watchdogs may do that many times a second. But it is reported long
// before lines are lost: when it has filled a twentieth of the log faster than in an hour.
//
//     a log of 1 GiB: about 150,000 lines at once, or 40 a second for some hours; the whole log takes 20 hours then
//
// Kept as the time at which the party has room for a whole twentieth again (GCRA). Takes the time as an argument.
// Single-threaded; O(1), but O(parties) for a new one beyond kPartiesMax.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace duewheel {

class AuditShare {
  public:
    static constexpr std::uint64_t kParts = 20;
    static constexpr std::int64_t kPartNs = std::int64_t{3'600} * 1'000'000'000;
    static constexpr std::size_t kPartiesMax = 1'000;  // more are kept only while they write

    explicit AuditShare(std::uint64_t log_bytes) : part_bytes_(log_bytes / kParts) {}

    // A line of this party, of about this size. Returns whether the party is to be reported: at most once in kPartNs.
    bool count(const std::string& party, std::size_t bytes, std::int64_t now_ns);

  private:
    struct Party {
        std::int64_t free_ns = 0;
        std::int64_t quiet_until_ns = 0;
    };

    const std::uint64_t part_bytes_;
    std::unordered_map<std::string, Party> parties_;
};

}  // namespace duewheel

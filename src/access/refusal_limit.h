// Decides which refusals of access get a line in the audit log: a client that is refused again and again must not fill
// the disk, or push the other lines out of the log.
//
// Each address gets a burst of lines, then one every ten seconds; all addresses together get a larger burst, then one a
// second. Refusals between two lines are counted, and the next line of the address, or a separate line, reports their
// number. With more than kAddressesMax addresses at a time, the others share one count.
//
// Takes the time as an argument. Single-threaded; O(1) except take_due().
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace duewheel {

class RefusalLimit {
  public:
    static constexpr std::int64_t kIntervalNs = 10'000'000'000;  // of the lines of an address
    static constexpr int kBurst = 10;
    static constexpr std::int64_t kIntervalOfAllNs = 1'000'000'000;
    static constexpr int kBurstOfAll = 100;
    static constexpr std::size_t kAddressesMax = 1'000;

    struct Suppressed {
        std::string address;  // empty: of addresses beyond kAddressesMax
        std::uint64_t refusals = 0;
    };

    // If this refusal gets a line: the number of refusals of the address since its previous line that had none. None:
    // it is only counted.
    std::optional<std::uint64_t> admit(std::string_view address, std::int64_t now_ns);
    // Counts a refusal that cannot have a line.
    void suppress(std::string_view address);

    // Addresses with counts for which a line may be written now; each is taken once. Forgets addresses that are quiet.
    // O(addresses).
    std::vector<Suppressed> take_due(std::int64_t now_ns);
    // All counts, for the end of the log.
    std::vector<Suppressed> take_all();

    bool has_suppressed() const { return suppressed_ > 0; }
    std::uint64_t suppressed_total() const { return suppressed_total_; }

  private:
    // A line is due when `next_ns`, which each line moves on by its interval, is no more than the burst ahead.
    struct Of {
        std::int64_t next_ns = 0;
        std::uint64_t suppressed = 0;
    };

    Of& of(std::string_view address);
    bool take_line(Of& of, std::int64_t now_ns);

    std::unordered_map<std::string, Of> addresses_;
    std::int64_t next_of_all_ns_ = 0;
    std::uint64_t suppressed_ = 0;  // in addresses_
    std::uint64_t suppressed_total_ = 0;
};

}  // namespace duewheel

// Decides which refusals get a line in the audit log: a client that is refused again and again must not fill the disk,
// push other lines out of the log, or hide what others do.
//
// Refusals of an address, an actor and a verb get a burst of lines, then one every ten seconds. An actor gets a larger
// burst for all of its verbs and addresses; a client without a token counts by its address. Beyond that there are four
// pools, so that noise in one leaves the others free: administrative requests and others, each of known actors and of
// strangers. A pool has a burst, then one line a second, or one every ten seconds for strangers, of whom there can be
// any number: in 90 days their lines take about a third of the largest log.
//
// Refusals between two lines are counted, and the next line of the same address, actor and verb, or a separate line,
// reports their number. With more than kCountsMax of these in a pool, the others share one count.
//
// Takes the time as an argument. Single-threaded; O(1) except take_due().
#pragma once

#include <array>
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
    static constexpr std::int64_t kIntervalNs = 10'000'000'000;
    static constexpr int kBurst = 10;
    static constexpr int kBurstOfActor = 30;
    static constexpr int kBurstOfPool = 100;
    static constexpr std::int64_t kIntervalOfKnownNs = 1'000'000'000;
    static constexpr std::size_t kCountsMax = 1'000;

    struct Refusal {
        std::string address;  // all three are empty: of those beyond kCountsMax
        std::string actor;
        std::string verb;
        bool is_known = false;           // the actor has a token; false: anyone can say so
        bool is_administrative = false;  // changes of settings and the like

        bool operator==(const Refusal&) const = default;
    };
    struct Suppressed {
        Refusal like;
        std::uint64_t refusals = 0;
    };

    // If this refusal gets a line: the number of refusals like it since their previous line that had none. None: it is
    // only counted.
    std::optional<std::uint64_t> admit(const Refusal& refusal, std::int64_t now_ns);
    // Counts a refusal that cannot have a line.
    void suppress(const Refusal& refusal);

    // Counts for which a line may be written now; each is taken once. Forgets what is quiet. O(counts).
    std::vector<Suppressed> take_due(std::int64_t now_ns);
    // All counts, for the end of the log.
    std::vector<Suppressed> take_all();

    bool has_suppressed() const { return suppressed_ > 0; }
    std::uint64_t suppressed_total() const { return suppressed_total_; }

  private:
    // A line is due when the time, which each line moves on by its interval, is no more than the burst ahead.
    struct Of {
        Refusal like;
        std::int64_t next_ns = 0;
        std::uint64_t suppressed = 0;
    };
    struct Pool {
        std::unordered_map<std::string, Of> counts;               // by address, actor and verb
        std::unordered_map<std::string, std::int64_t> actors_ns;  // by token, or address
        std::int64_t next_ns = 0;
    };

    Pool& pool_of(const Refusal& refusal) { return pools_[refusal.is_known * 2 + refusal.is_administrative]; }
    static Of& of(Pool& pool, const Refusal& refusal);
    static bool take_line(Pool& pool, Of& of, std::int64_t now_ns);

    std::array<Pool, 4> pools_;
    std::uint64_t suppressed_ = 0;  // in all counts
    std::uint64_t suppressed_total_ = 0;
};

}  // namespace duewheel

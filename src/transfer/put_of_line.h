// Converts a line of an export to the put that creates the message again, and counts what a put cannot express.
//
// The same line always gives the same bytes, so that a put with its key can be repeated: the result does not depend on
// the time. A message without its own key gets one formed from its origin, so that an interrupted import can be
// repeated (docs/decisions/2026-11-23-imports-by-key.md).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "transfer/message_line.h"

namespace duewheel {

// What a message loses, or gets in another form. Each is counted, and reported at the end.
enum class Loss : std::uint8_t {
    rest,        // the backoff after a failure: due at once, so that it keeps its position in its order
    origin,      // the recurring message, schedule or watchdog that created it, and its number
    occurrence,  // of a recurring message: its occurrences are numbered from 1
    growth,      // of one with growing intervals: they continue from the next one, rounded to a millisecond
    checks,      // of a prepared message: the number of its checks, and the time of the next
    key_added,   // it had no key
    reason,      // why it is a dead letter
    order,       // of a dead letter: its order key, which would block the others while it is held
};
inline constexpr std::size_t kLossCount = 8;
// For people, after the number: "had no key and get one, formed from the exported server and their id".
std::string_view loss_text(Loss loss);
// For scripts: "key_added".
std::string_view loss_name(Loss loss);

class Losses {
  public:
    void add(Loss loss) { ++counts_[static_cast<std::size_t>(loss)]; }
    void add(const Losses& others) {
        for (std::size_t i = 0; i < kLossCount; ++i) counts_[i] += others.counts_[i];
    }
    std::uint64_t of(Loss loss) const { return counts_[static_cast<std::size_t>(loss)]; }

  private:
    std::array<std::uint64_t, kLossCount> counts_{};
};

// Appends the put's JSON, on one line and without a line feed; adds to `losses`. `instance`: of the export's header. A
// dead letter is put as a held message, so that it can be kicked: without an expiry, as after a kick, and without an
// order key.
void write_put_of_line(std::string& out, const MessageLine& line, std::string_view instance, Losses& losses);

}  // namespace duewheel

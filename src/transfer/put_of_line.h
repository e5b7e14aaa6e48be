// From a line of an export to the put that makes the message again, and what of it a put cannot say.
//
// The same line gives the same bytes, always, so that a put with its key may be repeated: nothing here asks for the
// time. A message without a key of its own gets one that names it where it was exported, so that an import that was
// interrupted may begin anew (docs/decisions/2026-11-23-imports-by-key.md).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "transfer/message_line.h"

namespace duewheel {

// What a message loses on its way, or gets otherwise than it was. Each is counted, and told of at the end.
enum class Loss : std::uint8_t {
    attempts,         // deliveries that had begun: they are counted anew
    maybe_delivered,  // that a crash might have hidden a delivery
    rest,             // a failure's rest: due at once, so that it keeps its place in its order
    origin,           // which loop, schedule or watchdog made it, and its number there
    occurrence,       // of a loop: its occurrences are numbered from 1
    growth,           // of a loop whose rests grow: they grow on from the next one, which is a whole millisecond
    checks,           // of a half: how often its producer was asked, and when it is asked next
    key_added,        // it had no key
    reason,           // why its last attempt failed, or why it is dead
    order,            // of a dead one: its order key, which would hold up the others while it is set aside
};
inline constexpr std::size_t kLossCount = 10;
// For people, after their number: "had been tried before: their attempts are counted anew".
std::string_view loss_text(Loss loss);
// For scripts: "attempts".
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
// dead message is put set aside, so that somebody may bring it back: without an expiry, as if it were brought back
// here, and without an order key.
void write_put_of_line(std::string& out, const MessageLine& line, std::string_view instance, Losses& losses);

}  // namespace duewheel

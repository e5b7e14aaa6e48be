// Heartbeats: finds the peers that have been silent for too long, among up to millions of active ones.
//
// It has two uses. A server watches its clients' sessions and drops those that miss their heartbeats: the sink returns
// Silence::forget. A client watches its own connections and sends a heartbeat when it has sent nothing else for some
// time: the sink sends it and returns Silence::watch_on, which watches the peer again.
//
// Why choose it over one timer per peer that is moved with every message: heard() is one store. The peer's timer stays
// where it is; when it fires, it is scheduled again from the last time the peer was heard. So the wheel changes about
// once per peer and silence, however busy the peers are. Drawback: some checks find no silent peer, at most one per
// peer and silence, so a loop that sleeps until next_check() wakes more often than necessary. The table has no clock
// and no thread; a TimerService can drive it with a timer at next_check(). If peers have small numbers anyway, and
// calls for removed ones do not occur, an IdTimingWheel is enough: moving a timer to a later time is cheap there too.
//
// A peer is reported at the first advance_to() at or after last heard + silence, never earlier: pass the current time
// to watch() and heard(), not the table's. For three missed heartbeats, set the silence to three times the interval.
//
// Example:
//     HeartbeatTable sessions;
//     const HeartbeatTable::Peer client = sessions.watch(7, 30'000, 0);       // beats every 10 s, three may be missed
//     assert(sessions.heard(client, 12'000));
//     const auto drop = [](std::uint64_t, Tick) { return Silence::forget; };
//     assert(sessions.advance_to(41'999, drop) == 0);
//     assert(sessions.advance_to(42'000, drop) == 1 && !sessions.heard(client, 42'000));
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

#include <duewheel/id_timing_wheel.h>
#include <duewheel/tick.h>

namespace duewheel {

// What becomes of a peer that was silent: it is forgotten, or watched as if it had been heard of now.
enum class Silence : std::uint8_t { forget, watch_on };

// Single-owner; neither copied nor moved.
class HeartbeatTable {
  public:
    static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

    // Names one peer from watch() until it is forgotten; refused afterwards, also when its row serves another.
    struct Peer {
        std::uint64_t bits = 0;  // generation << 32 | row

        explicit operator bool() const { return bits != 0; }
        friend bool operator==(Peer, Peer) = default;
    };

    explicit HeartbeatTable(Tick now = 0) : wheel_(0, now) {}
    HeartbeatTable(const HeartbeatTable&) = delete;
    HeartbeatTable& operator=(const HeartbeatTable&) = delete;

    // From `now` on. The cookie is the caller's, and is returned after this many ticks of silence. O(1). Throws
    // std::invalid_argument for a silence of none, and std::bad_alloc; then nothing is watched.
    Peer watch(std::uint64_t cookie, Tick silence, Tick now);

    // False when the peer is not watched (any more). O(1): one store.
    bool heard(Peer peer, Tick now) {
        if (!is_watched(peer)) return false;
        Beat& beat = beats_[row_of(peer)];
        beat.last_heard = std::max(beat.last_heard, now);
        return true;
    }

    // False when it was not watched. O(1).
    bool forget(Peer peer);

    [[nodiscard]] bool is_watched(Peer peer) const {
        return peer && row_of(peer) < beats_.size() && beats_[row_of(peer)].generation == peer.bits >> 32;
    }
    // Nothing when it is not watched.
    [[nodiscard]] std::optional<Tick> last_heard(Peer peer) const {
        if (!is_watched(peer)) return std::nullopt;
        return beats_[row_of(peer)].last_heard;
    }

    // Calls sink(cookie, last_heard), which answers a Silence, for each peer that is silent by `now`; at most `budget`
    // peers are looked at or moved within the wheel. Returns how many were silent. The sink may watch, hear and forget
    // any peer. If it throws, the peer is forgotten.
    template <std::invocable<std::uint64_t, Tick> Sink>
    std::size_t advance_to(Tick now, Sink&& sink, std::size_t budget = kUnlimited);
    [[nodiscard]] bool caught_up() const { return wheel_.caught_up(); }

    // When advance_to() next has something to check; no peer is silent before. kNever when no peer is watched.
    [[nodiscard]] Tick next_check() { return wheel_.next_expiry(); }

    [[nodiscard]] Tick now() const { return wheel_.now(); }
    [[nodiscard]] std::size_t size() const { return size_; }
    // How many entries the wheel has looked at so far: what the bound of the tests is stated in.
    [[nodiscard]] std::uint64_t touched() const { return wheel_.touched(); }

  private:
    using RowNumber = IdTimingWheel::Id;

    // What heard() reads and writes, apart from the rest: four peers to a line of the processor's cache.
    struct Beat {
        Tick last_heard = 0;
        std::uint32_t generation = 0;  // 0: free
        std::uint32_t generations_used = 0;
    };
    static_assert(sizeof(Beat) == 16);
    struct Row {
        Tick silence = 0;
        std::uint64_t cookie = 0;
    };

    static RowNumber row_of(Peer peer) { return static_cast<RowNumber>(peer.bits); }
    void release(RowNumber number);
    template <class Sink>
    bool report(RowNumber number, Sink& sink);

    IdTimingWheel wheel_;
    std::vector<Beat> beats_;
    std::vector<Row> rows_;
    std::vector<RowNumber> free_;
    std::size_t size_ = 0;
};

inline HeartbeatTable::Peer HeartbeatTable::watch(std::uint64_t cookie, Tick silence, Tick now) {
    if (silence == 0) {
        throw std::invalid_argument("HeartbeatTable: the silence is 0 ticks. It must be at least 1.");
    }
    if (free_.empty()) {
        if (free_.capacity() <= beats_.size()) free_.reserve(2 * beats_.size() + 16);
        wheel_.grow(beats_.size() + 1);
        rows_.resize(beats_.size() + 1);
        beats_.emplace_back();
        free_.push_back(static_cast<RowNumber>(beats_.size() - 1));
    }
    const RowNumber number = free_.back();
    Beat& beat = beats_[number];
    wheel_.schedule(number, tick_after(now, silence));
    free_.pop_back();
    // A row whose generations are used up begins again: after four billion peers in the same row.
    if (++beat.generations_used == 0) beat.generations_used = 1;
    beat.generation = beat.generations_used;
    beat.last_heard = now;
    rows_[number] = Row{silence, cookie};
    ++size_;
    return Peer{std::uint64_t{beat.generation} << 32 | number};
}

inline bool HeartbeatTable::forget(Peer peer) {
    if (!is_watched(peer)) return false;
    wheel_.cancel(row_of(peer));
    release(row_of(peer));
    return true;
}

inline void HeartbeatTable::release(RowNumber number) {
    beats_[number].generation = 0;
    free_.push_back(number);  // there is room: watch() has made it
    --size_;
}

template <std::invocable<std::uint64_t, Tick> Sink>
std::size_t HeartbeatTable::advance_to(Tick now, Sink&& sink, std::size_t budget) {
    std::size_t silent = 0;
    wheel_.advance_to(
        now,
        [&](RowNumber number, Tick) {
            const Tick due = tick_after(beats_[number].last_heard, rows_[number].silence);
            if (due > wheel_.now()) return wheel_.schedule(number, due);
            ++silent;
            if (report(number, sink)) wheel_.schedule(number, tick_after(wheel_.now(), rows_[number].silence));
        },
        budget);
    return silent;
}

// Whether the peer is watched on. It may be gone when the sink returns, and its row may serve another.
template <class Sink>
bool HeartbeatTable::report(RowNumber number, Sink& sink) {
    const Peer peer{std::uint64_t{beats_[number].generation} << 32 | number};
    struct Forget {  // unless it is watched on, also when the sink throws
        HeartbeatTable& table;
        Peer peer;
        ~Forget() {
            if (peer) table.forget(peer);
        }
    } forget{*this, peer};
    const Silence answer = sink(rows_[number].cookie, beats_[number].last_heard);
    if (answer == Silence::forget || !is_watched(peer)) return false;
    forget.peer = {};
    beats_[number].last_heard = std::max(beats_[number].last_heard, wheel_.now());
    return true;
}

}  // namespace duewheel

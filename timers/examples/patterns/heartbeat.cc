// Both ends of a heartbeat on one clock of seconds: a client that sends a beat where it has been silent for ten of
// them, and a server that drops a session after three beats have been missed.
//
// Prints:
//     10 s: client 1 beats
//     20 s: client 1 beats
//     25 s: client 1 sends a request, which is as good as a beat
//     35 s: client 1 beats
//     36 s: client 1 is cut off
//     65 s: the server drops client 1
#include <cstdint>
#include <cstdio>

#include <duewheel/patterns/heartbeat_table.h>

using namespace duewheel;

int main() {
    constexpr Tick kBeat = 10;
    HeartbeatTable connections;  // of the client: whom it has to send something
    HeartbeatTable sessions;     // of the server: of whom it has to hear something
    const HeartbeatTable::Peer server = connections.watch(1, kBeat, 0);
    const HeartbeatTable::Peer client = sessions.watch(1, 3 * kBeat, 0);
    bool is_cut_off = false;
    const auto send = [&](Tick now) {
        if (!is_cut_off) sessions.heard(client, now);
    };
    for (Tick now = 1; now <= 70; ++now) {
        const int seconds = static_cast<int>(now);
        if (now == 25) {
            std::printf("%d s: client 1 sends a request, which is as good as a beat\n", seconds);
            send(now);
            connections.heard(server, now);
        }
        if (now == 36) {
            std::printf("%d s: client 1 is cut off\n", seconds);
            is_cut_off = true;
        }
        connections.advance_to(now, [&](std::uint64_t, Tick) {
            if (!is_cut_off) std::printf("%d s: client 1 beats\n", seconds);
            send(now);
            return Silence::watch_on;
        });
        sessions.advance_to(now, [&](std::uint64_t cookie, Tick) {
            std::printf("%d s: the server drops client %d\n", seconds, static_cast<int>(cookie));
            return Silence::forget;
        });
    }
}

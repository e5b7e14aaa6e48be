#include "server/process/connection_watch.h"

namespace duewheel {
namespace {

constexpr std::int64_t kIntervalNs = 10'000'000'000;

}  // namespace

bool ConnectionWatch::Kind::due(std::uint64_t count, std::int64_t now_ns) {
    if (count == logged || now_ns < next_line_ns) return false;
    logged = count;
    next_line_ns = now_ns + kIntervalNs;
    return true;
}

void ConnectionWatch::check(const HttpCounters& counters, std::int64_t now_ns) {
    if (full_.due(counters.accept_pauses - counters.descriptors_lacked + counters.connections_evicted +
                      counters.connections_refused,
                  now_ns)) {
        log_.warning(
            "connections_max_reached",
            "The maximum number of connections is open, or half of it by one address: idle connections are closed to "
            "make "
            "room, and further clients wait or are disconnected. Find the clients that keep connections open, or raise "
            "the setting http.connections_max.",
            {{"connections", counters.connections_open},
             {"evicted_total", counters.connections_evicted},
             {"refused_total", counters.connections_refused}});
    }
    if (no_files_.due(counters.descriptors_lacked, now_ns)) {
        log_.warning("open_files_exhausted",
                     "The process has reached its limit on open files: further clients wait until a connection closes. "
                     "Raise the limit (ulimit -n, or LimitNOFILE= in the systemd unit).",
                     {{"connections", counters.connections_open}});
    }
    if (cut_.due(counters.cut_unread, now_ns)) {
        log_.warning(
            "slow_clients_disconnected",
            "Unread responses exceeded the setting http.unsent_max: the clients with the most unread data were "
            "disconnected.",
            {{"disconnected_total", counters.cut_unread}});
    }
}

}  // namespace duewheel

#include "server/connection_watch.h"

namespace duewheel {
namespace {

constexpr std::int64_t kIntervalNs = 10'000'000'000;

}  // namespace

bool ConnectionWatch::Kind::due(std::uint64_t count, std::int64_t now_ns) {
    if (count == told || now_ns < next_line_ns) return false;
    told = count;
    next_line_ns = now_ns + kIntervalNs;
    return true;
}

void ConnectionWatch::look(const HttpCounters& counters, std::int64_t now_ns) {
    if (full_.due(counters.accept_pauses - counters.descriptors_lacked, now_ns)) {
        log_.warning("connections_full",
                     "As many clients are connected as may be; further ones wait until one leaves. See who holds "
                     "connections open, or raise the setting http.connections_max.",
                     {{"connections", counters.connections_open}});
    }
    if (no_files_.due(counters.descriptors_lacked, now_ns)) {
        log_.warning("no_open_files_left",
                     "The process may open no more files, so that further clients wait until one leaves. Raise its "
                     "limit on open files (ulimit -n, or LimitNOFILE= of its unit).",
                     {{"connections", counters.connections_open}});
    }
    if (cut_.due(counters.cut_unread, now_ns)) {
        log_.warning("slow_readers_cut",
                     "Clients asked for more than they read, and those with most unread answers were cut.",
                     {{"cut_since_the_start", counters.cut_unread}});
    }
}

}  // namespace duewheel

// What single clients of an HttpServer use of what all of them share: connections, and memory for unfinished requests.
//
// A client is an address (of IPv6 its network of 64 bits, because a machine has as many addresses as it wants), or a
// holder, whom the owner of the server recognizes in the head of a request. Clients on this machine are counted by
// holder only: a proxy may be among them.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

namespace duewheel {

struct HttpShare {
    std::size_t connections = 0;
    std::size_t unfinished_bytes = 0;
};

// A connection's part in a share, which exists as long as a connection has one.
class HttpShares {
  public:
    using Entry = std::unordered_map<std::string, HttpShare>::value_type;

    // Counts one more connection. The entry stays in place. O(1).
    Entry& enter(const std::string& client) {
        Entry& entry = *shares_.try_emplace(client).first;
        ++entry.second.connections;
        return entry;
    }
    void leave(Entry& entry) {
        if (--entry.second.connections == 0) shares_.erase(shares_.find(entry.first));
    }
    std::size_t connections(const std::string& client) const {
        const auto found = shares_.find(client);
        return found == shares_.end() ? 0 : found->second.connections;
    }

  private:
    std::unordered_map<std::string, HttpShare> shares_;
};

}  // namespace duewheel

// Bodies of records that will be delivered soon, so that a delivery does not wait for the disk. First in, first out,
// with a size limit. A miss is never wrong: the record is then read from the log.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>

#include "message/message.h"

namespace duewheel {

class RecordCache {
  public:
    explicit RecordCache(std::size_t bytes_max) : bytes_max_(bytes_max) {}

    bool holds(Sequence log_position) const { return records_.contains(log_position); }

    void insert(Sequence log_position, std::string_view body) {
        if (body.size() > bytes_max_ / 8) return;  // a few very large ones would displace all others
        if (!records_.try_emplace(log_position, body).second) return;
        order_.push_back(log_position);
        bytes_ += cost(body.size());
        while (bytes_ > bytes_max_ || order_.size() > 2 * records_.size() + 64) drop_oldest();
    }
    // Null on a miss. The view is valid until the next change.
    const std::string* find(Sequence log_position) const {
        const auto found = records_.find(log_position);
        return found == records_.end() ? nullptr : &found->second;
    }
    void erase(Sequence log_position) {
        const auto found = records_.find(log_position);
        if (found == records_.end()) return;
        bytes_ -= cost(found->second.size());
        records_.erase(found);
        while (!order_.empty() && !records_.contains(order_.front())) order_.pop_front();
    }
    std::size_t bytes() const { return bytes_; }

  private:
    static std::size_t cost(std::size_t size) { return size + 96; }  // including the table's own nodes
    void drop_oldest() {
        const Sequence log_position = order_.front();
        order_.pop_front();
        const auto found = records_.find(log_position);
        if (found == records_.end()) return;
        bytes_ -= cost(found->second.size());
        records_.erase(found);
    }

    std::size_t bytes_max_;
    std::size_t bytes_ = 0;
    boost::unordered_flat_map<Sequence, std::string> records_;
    std::deque<Sequence> order_;  // may contain records that were removed
};

}  // namespace duewheel

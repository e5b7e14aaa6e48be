// Small numbers for (namespace, queue): an entry in memory holds four bytes instead of two strings.
//
// A number stays with its name until it is released; the number that has been free for longest is reused first. The
// engine limits the number of queues. Single-threaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

namespace duewheel {

using QueueNumber = std::uint32_t;
inline constexpr QueueNumber kNoQueue = ~QueueNumber{0};

struct QueueName {
    std::string name_space;
    std::string queue;

    bool operator==(const QueueName&) const = default;
};

struct QueueNameView {
    QueueNameView(std::string_view in_name_space, std::string_view of_queue)
        : name_space(in_name_space), queue(of_queue) {}
    QueueNameView(const QueueName& name) : name_space(name.name_space), queue(name.queue) {}

    bool operator==(const QueueNameView&) const = default;

    std::string_view name_space;
    std::string_view queue;
};

class QueueNames {
  public:
    // The number of the queue, assigned if it has none yet. Average O(1).
    QueueNumber number(std::string_view name_space, std::string_view queue) {
        if (const QueueNumber known = find(name_space, queue); known != kNoQueue) return known;
        const QueueNumber fresh = free_.empty() ? size() : free_.front();
        if (free_.empty()) {
            names_.emplace_back();
        } else {
            free_.pop_front();
        }
        names_[fresh] = {std::string(name_space), std::string(queue)};
        numbers_.emplace(names_[fresh], fresh);
        return fresh;
    }
    // The number is not used any more.
    void release(QueueNumber number) {
        numbers_.erase(names_[number]);
        names_[number] = {};
        free_.push_back(number);
    }
    // kNoQueue if it was never named.
    QueueNumber find(std::string_view name_space, std::string_view queue) const {
        const auto found = numbers_.find(QueueNameView(name_space, queue));
        return found == numbers_.end() ? kNoQueue : found->second;
    }
    const QueueName& name(QueueNumber number) const { return names_[number]; }
    // Numbers are below this; a free one has an empty name.
    QueueNumber size() const { return static_cast<QueueNumber>(names_.size()); }
    std::size_t in_use() const { return numbers_.size(); }

  private:
    // Hashes a name without a copy of it: each record of the log is looked up.
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(const QueueNameView& name) const {
            std::size_t hash = 0;
            boost::hash_combine(hash, name.name_space);
            boost::hash_combine(hash, name.queue);
            return hash;
        }
    };
    struct Equal {
        using is_transparent = void;
        bool operator()(const QueueNameView& left, const QueueNameView& right) const { return left == right; }
    };

    boost::unordered_flat_map<QueueName, QueueNumber, Hash, Equal> numbers_;
    std::vector<QueueName> names_;
    std::deque<QueueNumber> free_;
};

}  // namespace duewheel

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
#include <unordered_map>
#include <vector>

namespace duewheel {

using QueueNumber = std::uint32_t;
inline constexpr QueueNumber kNoQueue = ~QueueNumber{0};

struct QueueName {
    std::string name_space;
    std::string queue;

    bool operator==(const QueueName&) const = default;
};

class QueueNames {
  public:
    // The number of the queue, assigned if it has none yet. Average O(1).
    QueueNumber number(std::string_view name_space, std::string_view queue) {
        const auto [inserted, fresh] =
            numbers_.try_emplace(joined(name_space, queue), free_.empty() ? size() : free_.front());
        if (!fresh) return inserted->second;
        if (free_.empty()) {
            names_.push_back({std::string(name_space), std::string(queue)});
        } else {
            names_[free_.front()] = {std::string(name_space), std::string(queue)};
            free_.pop_front();
        }
        return inserted->second;
    }
    // The number is not used any more.
    void release(QueueNumber number) {
        numbers_.erase(joined(names_[number].name_space, names_[number].queue));
        names_[number] = {};
        free_.push_back(number);
    }
    // kNoQueue if it was never named.
    QueueNumber find(std::string_view name_space, std::string_view queue) const {
        const auto found = numbers_.find(joined(name_space, queue));
        return found == numbers_.end() ? kNoQueue : found->second;
    }
    const QueueName& name(QueueNumber number) const { return names_[number]; }
    // Numbers are below this; a free one has an empty name.
    QueueNumber size() const { return static_cast<QueueNumber>(names_.size()); }
    std::size_t in_use() const { return numbers_.size(); }

  private:
    // NUL is in no name, so that two pairs never join to the same text.
    static std::string joined(std::string_view name_space, std::string_view queue) {
        std::string text;
        text.reserve(name_space.size() + queue.size() + 1);
        return text.append(name_space).append(1, '\0').append(queue);
    }

    std::unordered_map<std::string, QueueNumber> numbers_;
    std::vector<QueueName> names_;
    std::deque<QueueNumber> free_;
};

}  // namespace duewheel

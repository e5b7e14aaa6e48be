// Small numbers for the groups of queues, as queue_names.h has for queues: an entry in memory holds four bytes instead
// of a name.
//
// A number stays with its group while something uses it, and is assigned to another group after that. So memory does
// not grow with the number of groups that ever were. Single-threaded.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include "store/queue_names.h"

namespace duewheel {

using GroupNumber = std::uint32_t;
// The number of messages without a group.
inline constexpr GroupNumber kNoGroup = 0;

struct GroupName {
    QueueNumber queue = kNoQueue;  // kNoQueue: the number is free
    std::uint32_t uses = 0;
    std::string group;
};

class GroupNames {
  public:
    GroupNames() : names_(std::make_unique<Names>(1)), numbers_(0, Hash{names_.get()}, Equal{names_.get()}) {}

    // The number of the group, which has one more use. Average O(1).
    GroupNumber use(QueueNumber queue, std::string_view group) {
        GroupNumber number = find(queue, group);
        if (number == kNoGroup) {
            number = free_.empty() ? size() : free_.back();
            if (free_.empty()) {
                names_->emplace_back();
            } else {
                free_.pop_back();
            }
            at(number) = {queue, 0, std::string(group)};
            numbers_.insert(number);
        }
        ++at(number).uses;
        return number;
    }
    void use(GroupNumber number) { ++at(number).uses; }
    // One use less; without any, the number is free. kNoGroup has no uses.
    void release(GroupNumber number) {
        if (number == kNoGroup) return;
        assert(at(number).uses > 0);
        if (--at(number).uses > 0) return;
        numbers_.erase(number);
        at(number) = {};
        free_.push_back(number);
    }
    // kNoGroup if nothing uses the group.
    GroupNumber find(QueueNumber queue, std::string_view group) const {
        const auto found = numbers_.find(View{queue, group});
        return found == numbers_.end() ? kNoGroup : *found;
    }
    const GroupName& operator[](GroupNumber number) const { return (*names_)[number]; }
    // Numbers are below this.
    GroupNumber size() const { return static_cast<GroupNumber>(names_->size()); }
    std::size_t in_use() const { return numbers_.size(); }

  private:
    using Names = std::vector<GroupName>;
    struct View {
        QueueNumber queue;
        std::string_view group;

        bool operator==(const View&) const = default;
    };
    struct Hash {
        using is_transparent = void;
        const Names* names;
        std::size_t operator()(const View& of) const {
            std::size_t hash = of.queue;
            boost::hash_combine(hash, of.group);
            return hash;
        }
        std::size_t operator()(GroupNumber number) const {
            return (*this)(View{(*names)[number].queue, (*names)[number].group});
        }
    };
    struct Equal {
        using is_transparent = void;
        const Names* names;
        bool operator()(GroupNumber left, GroupNumber right) const { return left == right; }
        bool operator()(GroupNumber left, const View& right) const {
            return View{(*names)[left].queue, (*names)[left].group} == right;
        }
        bool operator()(const View& left, GroupNumber right) const { return (*this)(right, left); }
    };

    GroupName& at(GroupNumber number) { return (*names_)[number]; }

    std::unique_ptr<Names> names_;  // at a place that does not move: the set compares by it
    boost::unordered_flat_set<GroupNumber, Hash, Equal> numbers_;
    std::vector<GroupNumber> free_;
};

}  // namespace duewheel

// How webhook posts share connections and memory, among namespaces and among the targets of each.
//
// Each namespace may have four times as much as is left free (base/dynamic_threshold.h), so that one with hanging
// targets leaves a fifth, and the next one four fifths of that. Within a namespace a target may have as much as it
// leaves to the others: a hanging one, whatever its concurrency, leaves half, and of several such targets each leaves
// as much as it has. Posts that wait for a connection take turns by namespace, and within each by target.
//
// It counts, and sends nothing. Single-threaded. O(1), and O(log namespaces) for a target's first and last call; a
// target that waits for its share costs O(namespaces) in each iteration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "delivery/target_table.h"
#include "webhooks/webhook_options.h"

namespace duewheel {

class WebhookShares {
  public:
    // What a target uses. Its address stays the same from join() to part().
    struct Use;
    // The combined use of the targets of a namespace.
    struct Share {
        std::size_t targets = 0;
        std::size_t in_flight = 0;  // posts
        std::size_t begun = 0;      // targets that have any
        std::size_t bytes = 0;      // of leased messages whose posts are not finished
        std::size_t queued = 0;     // messages, of all of them
        std::deque<Use*> lines;     // they have queued messages, in the order of their turns
        std::deque<Use*> starved;   // they wait for resources
    };
    struct Use {
        TargetNumber number = 0;
        Share* share = nullptr;
        std::size_t bytes = 0;        // of leased messages whose posts are not finished
        std::size_t queued = 0;       // leased messages that wait for a connection
        std::uint32_t in_flight = 0;  // posts
        std::uint32_t busy = 0;       // posts in progress, and queued messages
        bool starved = false;         // waits for its share of resources
        bool fed = false;             // and it is its turn
    };

    // The options outlive it.
    explicit WebhookShares(const WebhookOptions& options) : options_(options) {}

    void join(Use& use, TargetNumber number, const std::string& name_space);
    // It has no messages, and does not wait.
    void part(Use& use, const std::string& name_space);

    // From now on queued messages have their turns at once, and no target that waits is fed.
    void stop() { stopping_ = true; }

    // How many more messages the target may lease. 0: it waits for its share, or until one of its posts ends.
    std::size_t room_or_wait(Use& use);
    // A leased message waits for a connection.
    void add(Use& use, std::size_t bytes);
    // Its post ended, or it will not be posted.
    void remove(Use& use, std::size_t bytes);

    void post_begun(Use& use);
    void post_ended(Use& use);

    // Calls `take(target, may_begin)` for the targets with queued messages, in turns, until no target takes its turn.
    // It takes one message of the target and returns true, or returns false if the message waits for a connection.
    template <class Take>
    void take_turns(Take take) {
        for (std::size_t skipped = 0; skipped < lines_.size();) {
            Share& share = *lines_.front();
            lines_.pop_front();
            const bool takes = may_begin(share) && take_turn(share, take);
            if (!share.lines.empty()) lines_.push_back(&share);
            skipped = takes ? 0 : skipped + 1;
        }
    }

    // Calls `feed(target)` for targets whose share has become free: in each namespace those that have waited for
    // longest, and only as many as there are resources for.
    template <class Feed>
    void feed_starved(Feed feed) {
        if (starved_ == 0) return;
        for (auto& [name, share] : shares_) {
            std::size_t room = may_have_one(share) ? options_.connections_max - in_flight_ : 0;
            for (; room > 0 && !share.starved.empty(); --room) {
                Use& use = *share.starved.front();
                share.starved.pop_front();
                --starved_;
                use.starved = false;
                use.fed = true;
                feed(use.number);
            }
        }
    }
    // feed_starved() has something to do.
    bool may_feed() const;

    bool has_queued() const { return !lines_.empty(); }
    std::size_t in_flight() const { return in_flight_; }
    std::size_t bytes() const { return bytes_; }

  private:
    template <class Take>
    bool take_turn(Share& share, Take& take) {
        for (std::size_t targets = share.lines.size(); targets > 0; --targets) {
            Use& use = *share.lines.front();
            share.lines.pop_front();
            const bool takes = take(use.number, may_begin(use));
            if (takes) --share.queued;
            if (!takes || --use.queued > 0) share.lines.push_back(&use);
            if (takes) return true;
        }
        return false;
    }
    std::size_t kept_in(const Share& share) const;
    std::size_t left_in(const Share& share) const;
    std::size_t room_in(const Share& share) const;
    std::size_t room_of(const Use& use) const;
    bool may_have_one(const Share& share) const;
    bool may_begin(const Share& share) const;
    bool may_begin(const Use& use) const;

    const WebhookOptions& options_;
    bool stopping_ = false;
    std::map<std::string, Share> shares_;  // by namespace
    std::deque<Share*> lines_;             // with queued messages, in the order of their turns
    std::size_t starved_ = 0;              // targets
    std::size_t in_flight_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace duewheel

// The pages and forecasts in progress. Their number is limited, because each holds its candidates in memory.
#pragma once

#include <cassert>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/dynamic_threshold.h"
#include "engine/commands/refusals.h"
#include "engine/core/uses.h"

namespace duewheel {

class OpenViews : Uses<EngineOptions, Effects> {
  public:
    explicit OpenViews(const Uses& uses) : Uses(uses) {}

    // False if as many are open as the namespace may have; the request was answered with an error.
    bool begin(const std::string& name_space, ReplyToken token) {
        std::uint32_t& own = of_namespace_[name_space];
        if (!may_take_one(own, open_, options_.listings_max)) return reply(token, too_busy()), false;
        ++own;
        ++open_;
        return true;
    }
    void end(const std::string& name_space, ReplyToken token, Reply view) {
        assert(open_ > 0);
        --open_;
        const auto own = of_namespace_.find(name_space);
        if (--own->second == 0) of_namespace_.erase(own);
        reply(token, std::move(view));
    }
    std::uint32_t count() const { return open_; }

  private:
    std::uint32_t open_ = 0;
    std::unordered_map<std::string, std::uint32_t> of_namespace_;  // those of `open_`
};

}  // namespace duewheel

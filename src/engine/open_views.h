// The pages and forecasts in progress. Their number is limited, because each holds its candidates in memory.
#pragma once

#include <cassert>
#include <cstdint>
#include <utility>

#include "engine/engine_context.h"
#include "engine/refusals.h"

namespace duewheel {

class OpenViews {
  public:
    explicit OpenViews(EngineContext& context) : context_(context) {}

    // False if the maximum is open; the request was answered with an error.
    bool begin(ReplyToken token) {
        if (open_ >= context_.options.listings_max) return context_.reply(token, too_busy()), false;
        ++open_;
        return true;
    }
    void end(ReplyToken token, Reply view) {
        assert(open_ > 0);
        --open_;
        context_.reply(token, std::move(view));
    }
    std::uint32_t count() const { return open_; }

  private:
    EngineContext& context_;
    std::uint32_t open_ = 0;
};

}  // namespace duewheel

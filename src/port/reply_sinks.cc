#include "port/reply_sinks.h"

#include <cassert>
#include <utility>

namespace duewheel {

ReplyTokens ReplySinks::add(ReplySink sink) {
    sinks_.push_back(std::move(sink));
    assert(sinks_.size() <= UINT8_MAX);
    return ReplyTokens(static_cast<std::uint8_t>(sinks_.size()));
}

void ReplySinks::deliver(ReplyToken token, Reply reply) const {
    sinks_.at(ReplyTokens::sink_of(token) - 1)(token, std::move(reply));
}

}  // namespace duewheel

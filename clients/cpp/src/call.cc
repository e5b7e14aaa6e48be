#include "duewheel/client/call.h"

namespace duewheel::client::detail {

void Pending::finish(Answer answer) {
    std::function<void()> function;
    {
        const std::lock_guard lock(mutex_);
        if (answer_) return;
        answer_.emplace(std::move(answer));
        function = std::move(function_);
    }
    ended_.notify_all();
    if (function) function();
}

Pending::Answer Pending::wait() {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return answer_.has_value(); });
    return *std::move(answer_);
}

bool Pending::then(std::function<void()> function) {
    const std::lock_guard lock(mutex_);
    if (answer_) return false;
    function_ = std::move(function);
    return true;
}

}  // namespace duewheel::client::detail

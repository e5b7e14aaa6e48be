// The queue whose target is set, and by whom: a client that is limited to some namespaces or queues may not use what
// belongs to others, such as a secret that signs their webhooks.
#pragma once

#include <string_view>

namespace duewheel {

struct TargetOwner {
    std::string_view name_space;
    std::string_view queue;
    bool is_set_by_server_admin = true;  // by a client without such limits
};

}  // namespace duewheel

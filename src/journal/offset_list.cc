#include "journal/offset_list.h"

#include <cstring>

namespace duewheel {

FrameHead frame_head(std::string_view bytes) {
    assert(bytes.size() >= kRecordFrameBytes);
    FrameHead head;
    std::memcpy(&head.body_bytes, bytes.data(), sizeof head.body_bytes);
    std::memcpy(&head.sequence, bytes.data() + 8, sizeof head.sequence);
    std::memcpy(&head.kind, bytes.data() + 16, sizeof head.kind);
    return head;
}

}  // namespace duewheel

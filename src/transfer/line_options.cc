#include "transfer/line_options.h"

namespace duewheel {

const HttpApiOptions& line_options() {
    static const HttpApiOptions options = [] {
        HttpApiOptions most;
        most.body_bytes_max = std::size_t{64} << 20;
        most.queue_name_bytes_max = 4096;
        most.key_bytes_max = 4096;
        most.headers_max = 1000;
        most.headers_bytes_max = std::size_t{1} << 20;
        return most;
    }();
    return options;
}

}  // namespace duewheel

// A deque of large elements. The one of libstdc++ allocates each element of more than 256 bytes by itself, and elements
// of more than a kilobyte without the cache of malloc; this one allocates sixteen at a time, and nothing while it is
// empty.
#pragma once

#include <boost/container/deque.hpp>

namespace duewheel {

template <class T>
using BlockDeque =
    boost::container::deque<T, void, boost::container::deque_options_t<boost::container::block_size<16u>>>;

}  // namespace duewheel

// The content of a message: what its producer sent and its consumer gets, unchanged.
//
// Commands and replies own it; a record that is encoded or was decoded refers to it. Both kinds derive from it, so that
// its texts are members like their others.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace duewheel {

template <class Text>
struct BasicContent {
    Text body;
    Text content_type;  // empty: the body came as a JSON string, or as raw bytes without a type
    Text headers;       // message headers, encoded by the interface that received them
    Text traceparent;

    std::size_t content_bytes() const {
        return body.size() + content_type.size() + headers.size() + traceparent.size();
    }
    bool operator==(const BasicContent&) const = default;
};

using Content = BasicContent<std::string>;
using ContentView = BasicContent<std::string_view>;

template <class From, class To>
void copy_content(const BasicContent<From>& from, BasicContent<To>& to) {
    to.body = from.body;
    to.content_type = from.content_type;
    to.headers = from.headers;
    to.traceparent = from.traceparent;
}
inline void move_content(Content& from, Content& to) {
    to = std::move(from);
}

}  // namespace duewheel

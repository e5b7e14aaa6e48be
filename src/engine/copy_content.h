// The content that a message takes over from a command or a rule, and that a reply shows.
#pragma once

namespace duewheel {

// Between commands, records and replies; a record refers to the texts of its command.
template <class From, class To>
void copy_content(const From& from, To& to) {
    to.body = from.body;
    to.content_type = from.content_type;
    to.headers = from.headers;
    to.traceparent = from.traceparent;
}

}  // namespace duewheel

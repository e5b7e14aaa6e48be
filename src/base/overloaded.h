// One function object from several, for std::visit: each alternative goes to the overload for its type.
#pragma once

namespace duewheel {

template <class... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace duewheel

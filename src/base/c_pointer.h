// An owner of an object of a C library, which a function of that library frees.
#pragma once

#include <memory>

namespace duewheel {

template <auto Free>
struct CDeleter {
    template <class T>
    void operator()(T* object) const {
        Free(object);
    }
};

template <class T, auto Free>
using CPointer = std::unique_ptr<T, CDeleter<Free>>;

}  // namespace duewheel

// A value that is rarely set: it is on the heap then, and takes the size of a pointer otherwise.
//
// It behaves as its value: a copy copies it, and two are equal if their values are. A value that equals the default one
// is not stored, so each value has one form.
#pragma once

#include <memory>
#include <utility>

namespace duewheel {

template <class T>
class Boxed {
  public:
    Boxed() = default;
    Boxed(T value) { set(std::move(value)); }
    Boxed(const Boxed& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
    Boxed(Boxed&&) noexcept = default;
    Boxed& operator=(const Boxed& other) {
        if (this != &other) *this = Boxed(other);
        return *this;
    }
    Boxed& operator=(Boxed&&) noexcept = default;
    ~Boxed() = default;

    const T& operator*() const { return value_ ? *value_ : kDefault; }
    const T* operator->() const { return &**this; }
    bool is_set() const { return value_ != nullptr; }

    void set(T value) {
        if (value == kDefault) return value_.reset();
        value_ = std::make_unique<T>(std::move(value));
    }
    // Calls `change` with the value, which it may modify.
    template <class Change>
    void edit(Change&& change) {
        T value = value_ ? std::move(*value_) : T();
        change(value);
        set(std::move(value));
    }
    void clear() { value_.reset(); }

    bool operator==(const Boxed& other) const { return **this == *other; }

  private:
    static inline const T kDefault{};

    std::unique_ptr<T> value_;
};

}  // namespace duewheel

// Which moves from one value of an enumeration to another are legal. For enumerations whose values are 0 to 15.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace duewheel {

template <class Enum>
class MoveTable {
  public:
    // The table with the moves from `from` to each of `to` as well.
    [[nodiscard]] constexpr MoveTable from(Enum from, std::initializer_list<Enum> to) const {
        MoveTable more = *this;
        for (const Enum each : to) more.moves_[static_cast<std::size_t>(from)] |= bit(each);
        return more;
    }
    [[nodiscard]] constexpr bool has(Enum from, Enum to) const {
        return (moves_[static_cast<std::size_t>(from)] & bit(to)) != 0;
    }

  private:
    static constexpr std::uint16_t bit(Enum value) {
        return static_cast<std::uint16_t>(1u << static_cast<unsigned>(value));
    }

    std::array<std::uint16_t, 16> moves_{};
};

}  // namespace duewheel

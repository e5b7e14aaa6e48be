// A made-up resource with a field of each kind, whose table is all that describes it: a row is all that codec,
// requests, responses, schema and pages need.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "resource/field.h"

namespace duewheel {
namespace lamp_fixture {

enum class Colour : std::uint8_t { red, blue };

struct Lamp {
    std::uint32_t revision = 0;
    bool lit = false;
    std::uint64_t watts = 0;
    std::int64_t fade_ms = 0;
    std::optional<std::int32_t> socket;
    std::string room;
    Colour colour = Colour::red;
    std::vector<std::string> owners;

    bool operator==(const Lamp&) const = default;
};

inline constexpr std::string_view kColours[] = {"red", "blue"};
inline constexpr Field kRows[] = {
    flag<&Lamp::lit>(2, "lit", "Whether it is on"),
    duration<&Lamp::fade_ms>(4, "fade", "How long it takes to go on", {.min = 50, .max = 60'000}),
    count<&Lamp::watts>(3, "power.watts", "What it draws", {.max = 100, .when_absent = "no power"}),
    count<&Lamp::socket>(5, "power.socket", "Where it is plugged in", {.min = 0}),
    text<&Lamp::room>(6, "room", "Where it stands"),
    word<&Lamp::colour>(7, "colour", "Its colour", kColours),
    names<&Lamp::owners>(8, "owners", "Who may switch it"),
    kept<&Lamp::revision>(1),
};

}  // namespace lamp_fixture

template <>
inline const FieldTable& fields_of<lamp_fixture::Lamp>() {
    static const FieldTable table("a lamp holds", lamp_fixture::kRows);
    return table;
}

namespace lamp_fixture {

inline Lamp everything() {
    return {7, true, 60, 250, 0, "hall", Colour::blue, {"ann", "bob"}};
}

}  // namespace lamp_fixture
}  // namespace duewheel

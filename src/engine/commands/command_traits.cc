#include "engine/commands/command_traits.h"

namespace duewheel {

bool is_a_put(const Command& command) {
    return with_traits(command, [](auto traits, const auto&) { return traits.kIsPut; });
}

bool is_of_cleaning(const Command& command) {
    return with_traits(command, [](auto traits, const auto&) { return traits.kIsCompaction; });
}

bool is_limited(const Command& command) {
    return with_traits(command, [](auto traits, const auto&) { return traits.kIsLimited; });
}

bool is_a_move(const Command& command) {
    return with_traits(command, [](auto traits, const auto& of) { return traits.is_move(of); });
}

bool brings_content(const Command& command) {
    return with_traits(command, [](auto traits, const auto& of) { return traits.brings_content(of); });
}

bool may_be_repeated(const Command& command) {
    return with_traits(command, [](auto traits, const auto& of) { return traits.may_be_repeated(of); });
}

std::size_t record_count(const Command& command) {
    return with_traits(command, [](auto traits, const auto& of) { return traits.record_count(of); });
}

std::size_t record_bytes_max(const Command& command) {
    return with_traits(command, [](auto traits, const auto& of) { return traits.record_bytes_max(of); });
}

std::size_t payload_bytes(const Command& command) {
    return with_traits(command, [](auto traits, const auto& of) { return traits.payload_bytes(of); });
}

}  // namespace duewheel

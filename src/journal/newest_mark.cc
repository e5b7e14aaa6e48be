#include "journal/newest_mark.h"

#include <charconv>

namespace duewheel {
namespace {

constexpr std::string_view kMarkNameStart = "newest-";
constexpr std::size_t kMarkNameDigits = 20;

}  // namespace

Status NewestMark::raise(std::uint64_t number) {
    if (number <= number_ && durable_) return {};
    if (number > number_) {
        const std::string path = directory_ + "/" + name_of(number);
        Status named;
        if (number_ == 0) {
            const Result<std::unique_ptr<File>> made = files_.open(path, OpenMode::create);
            if (!made) named = made.error();
        } else {
            named = files_.rename(directory_ + "/" + name_of(number_), path);
        }
        if (!named) return named;
        number_ = number;
    }
    durable_ = false;
    Status synced = files_.sync_directory(directory_);
    durable_ = synced.ok();
    return synced;
}

std::string NewestMark::name_of(std::uint64_t number) {
    const std::string digits = std::to_string(number);
    return std::string(kMarkNameStart) + std::string(kMarkNameDigits - digits.size(), '0') + digits;
}

std::uint64_t NewestMark::number_of(std::string_view name) {
    if (!name.starts_with(kMarkNameStart)) return 0;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(name.data() + kMarkNameStart.size(), name.data() + name.size(), number);
    return error == std::errc() && end == name.data() + name.size() && name_of(number) == name ? number : 0;
}

}  // namespace duewheel

#include "beanstalk/beanstalk_job.h"

#include <charconv>

namespace duewheel {
namespace {

constexpr std::string_view kMember = "\"beanstalk-ttr\":\"";

}  // namespace

std::string headers_of_job(std::uint32_t ttr_s) {
    if (ttr_s == kBeanstalkTtrDefaultS) return {};
    return "{" + std::string(kMember) + std::to_string(ttr_s) + "\"}";
}

// Headers are stored without spaces between their tokens (http_api/requests/kept_headers.h), and a quote within a text
// has a backslash before it, so the member cannot be part of another header's value.
std::uint32_t ttr_of_headers(std::string_view headers) {
    const std::size_t at = headers.find(kMember);
    if (at == std::string_view::npos) return kBeanstalkTtrDefaultS;
    const std::string_view value = headers.substr(at + kMember.size());
    std::uint32_t ttr_s = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), ttr_s);
    const bool is_number = error == std::errc() && end != value.data() + value.size() && *end == '"';
    return is_number && ttr_s > 0 ? ttr_s : kBeanstalkTtrDefaultS;
}

}  // namespace duewheel

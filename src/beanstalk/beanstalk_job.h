// What a message has of a job.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace duewheel {

inline constexpr std::uint32_t kBeanstalkTtrDefaultS = 60;

// beanstalkd has unsigned priorities; 2147483648 is the priority 0 of a message. Both orders are the same.
inline std::int32_t priority_of_job(std::uint32_t priority) {
    return static_cast<std::int32_t>(priority ^ 0x8000'0000U);
}
inline std::uint32_t job_priority(std::int32_t priority) {
    return static_cast<std::uint32_t>(priority) ^ 0x8000'0000U;
}

// The TTR is a header of the message, "beanstalk-ttr", unless it is the default.
std::string headers_of_job(std::uint32_t ttr_s);
// The default if the headers have none, or not a number of seconds.
std::uint32_t ttr_of_headers(std::string_view headers);

}  // namespace duewheel

// The misfire and overlap policies of other schedulers, which users know from them, in our terms: the misfire
// instructions of Quartz, the block strategies of xxl-job, the concurrency policies of Kubernetes.
#pragma once

#include <string>
#include <string_view>

namespace duewheel {

// What follows an error about the unknown value `word` of the member `misfire` or `overlap`:
//
//     ; the Quartz instruction corresponds to "skip"
//
// Empty if no other product has the word.
std::string foreign_policy_hint(std::string_view member, std::string_view word);

}  // namespace duewheel

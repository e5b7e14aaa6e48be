// For tests: records by their types.
#pragma once

#include <variant>
#include <vector>

#include "message/records/record.h"

namespace duewheel {

inline const MessageRecord& as_message(const Record& record) {
    return std::get<MessageRecord>(record);
}

// Those of one type, in the same order.
template <class Of>
std::vector<Of> records_of(const std::vector<Record>& all) {
    std::vector<Of> found;
    for (const Record& record : all) {
        if (const auto* of = std::get_if<Of>(&record)) found.push_back(*of);
    }
    return found;
}

}  // namespace duewheel

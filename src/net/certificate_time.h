// The times of a certificate as instants.
#pragma once

#include <ctime>

#include <openssl/asn1.h>

#include "shared/instant.h"

namespace duewheel {

// kNoInstant where it is none.
inline InstantMs instant_ms(const ASN1_TIME* time) {
    std::tm parts{};
    if (ASN1_TIME_to_tm(time, &parts) != 1) return kNoInstant;
    return static_cast<InstantMs>(::timegm(&parts)) * 1000;
}

}  // namespace duewheel

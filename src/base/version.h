// What the programs say they are.
#pragma once

namespace duewheel {

// Three numbers, such as "0.1.0".
extern const char* const kVersion;
// The same with commit and date, if they are known: "0.1.0 (0123456789ab, 2026-01-31)".
extern const char* const kFullVersion;

}  // namespace duewheel

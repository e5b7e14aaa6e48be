// Marks where another thread may come between. In the library these are nothing. A second build of the same sources,
// made with DUEWHEEL_INTERLEAVINGS for the tests, stops at each of them and lets a scheduler choose which thread goes
// on (runtime/interleaving_explorer.h).
#pragma once

namespace duewheel {

#ifdef DUEWHEEL_INTERLEAVINGS
// Any other thread may continue here instead.
void interleaving_point();
// This thread cannot continue until another one has.
void interleaving_wait();
inline constexpr bool kInterleavingsExplored = true;
#else
inline void interleaving_point() {}
inline void interleaving_wait() {}
inline constexpr bool kInterleavingsExplored = false;
#endif

}  // namespace duewheel

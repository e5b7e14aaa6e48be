// SIGTERM and SIGINT as something to wait for. One of a process at a time.
#pragma once

namespace duewheel::client {

class StopSignals {
  public:
    // Takes the signals until it is destroyed, unless another one has them.
    StopSignals();
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;

    bool has_signals() const { return has_signals_; }
    enum class Event : char { stop = 's', stopped = 'e' };
    // Waits for a signal, which is a stop, or for what another thread has put.
    Event next();
    // On any thread.
    void put(Event event);

  private:
    bool has_signals_ = false;
    int ends_[2] = {-1, -1};  // of a pipe
};

}  // namespace duewheel::client

// The state of each queue at the start (its settings and its number of messages), and that of schedules and watchdogs:
// from the index, updated by the replayed records.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "engine/core/engine.h"
#include "message/records/subject.h"
#include "store/index.h"

namespace duewheel {

class QueueReplay {
  public:
    // Codes: those of the index's reads.
    Status begin(const Index& index);
    // The next record of the log after the index.
    void apply(const Record& record, Sequence sequence, std::uint32_t frame_bytes);
    // Every queue with settings or messages, sorted by name. A setting that this version does not have any more is
    // reported in `log`. Codes: `newer_format`, `damaged_log`.
    Status finish(std::vector<EngineStart::QueueState>& into, LogSink& log) const;

    // Every schedule, sorted by name. One whose zone is not in the zone data any more has no times, and is reported in
    // `log`. Codes: `newer_format`, `damaged_log`.
    Status finish(std::vector<ScheduleStart>& into, const FindZone& find_zone, LogSink& log) const;

    // Every watchdog, sorted by name. Codes as above.
    Status finish(std::vector<WatchdogStart>& into) const;

    // Every namespace with settings, sorted by name. Codes as above.
    Status finish(std::vector<NamespaceStart>& into) const;

    // Every group with settings, sorted by name. Codes as above.
    Status finish(std::vector<GroupConfStart>& into) const;

    // Every access token, in the order of ids. Codes as above.
    Status finish(std::vector<StoredToken>& into) const;

    // The position of every input, in the order of names. Codes as above.
    Status finish(std::vector<InputPosition>& into) const;

    // Those in force at the log's end, then the schedules and the watchdogs, in the order of names.
    std::vector<Index::Settings> settings() const;

  private:
    using Name = std::pair<std::string, std::string>;

    const std::map<Name, SettingsRow>& of(Subject subject) const {
        return settings_[static_cast<std::size_t>(subject)];
    }
    std::map<Name, SettingsRow>& of(Subject subject) { return settings_[static_cast<std::size_t>(subject)]; }
    void count(const MessageRecord& record);
    template <class Of>
    void set(const Of& record, Sequence sequence, std::uint32_t frame_bytes);
    QueueCounts& counts(const std::string& name_space, const std::string& queue);

    std::map<Name, QueueCounts> counts_;
    // By subject. `log_position` and `record_bytes` of a schedule or a watchdog are those of its whole record.
    std::array<std::map<Name, SettingsRow>, kSubjects> settings_;
    std::map<Name, QueueCounts>::iterator last_ = counts_.end();  // most records have the queue of the previous one
};

}  // namespace duewheel

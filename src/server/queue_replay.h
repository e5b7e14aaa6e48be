// What a start knows of each queue (its settings and how many messages stand in it) and of the schedules, from the
// index and moved on by the records that are replayed on top.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "engine/engine.h"
#include "store/index.h"

namespace duewheel {

class QueueReplay {
  public:
    // Codes: those of the index's reads.
    Status begin(const Index& index);
    // The next record of the log behind the index.
    void apply(const Record& record, Sequence sequence, std::uint32_t frame_bytes);
    // Every queue that has settings or messages, in the order of names. Codes: `newer_format`, `damaged_log`.
    Status finish(std::vector<EngineStart::QueueState>& into) const;

    // Every schedule, in the order of names. One whose zone is not in the zone data any more comes without times, and
    // is told of in `log`. Codes: `newer_format`, `damaged_log`.
    Status finish(std::vector<ScheduleStart>& into, const FindZone& find_zone, LogSink& log) const;

    // Those in force at the log's end, and the schedules after them, in the order of names.
    std::vector<Index::Settings> settings() const;

  private:
    using Name = std::pair<std::string, std::string>;

    QueueCounts& counts(const std::string& name_space, const std::string& queue);

    std::map<Name, QueueCounts> counts_;
    std::map<Name, SettingsRow> settings_;
    std::map<Name, SettingsRow> schedules_;                       // `place` and `record_bytes` of their whole records
    std::map<Name, QueueCounts>::iterator last_ = counts_.end();  // most records name the queue of the one before
};

}  // namespace duewheel

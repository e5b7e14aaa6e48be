// A log over several process lifetimes on a simulated disk: it commits, rotates segments, fills spares and drops its
// front. Then the power is cut at some call, or the process is killed, or the disk fails a sync or is full. After each
// restart the log must contain exactly what was acknowledged, or that and the complete commit that was being written.
//
// A seed determines everything. A violation is returned as a text, so that the same trial can also be required to find
// a planted bug.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error_codes.h"
#include "journal/trial_log.h"
#include "support/sim_disk.h"

namespace duewheel {

// What was met over one or more trials; each must be met, or the trials say nothing.
struct CrashCounts {
    std::uint64_t calls = 0;  // of the disk
    std::uint64_t lives = 0;
    std::uint64_t commits = 0;
    std::uint64_t power_cuts = 0;
    std::uint64_t kills_in_call = 0;
    std::uint64_t cuts_in_recovery = 0;  // the power or the process went while the log was being opened
    std::uint64_t torn_ends = 0;
    std::uint64_t kept_unanswered = 0;  // a commit that was not confirmed is there
    std::uint64_t lost_unanswered = 0;  // and one that is not
    std::uint64_t failed_syncs = 0;
    std::uint64_t full_disks = 0;
    std::uint64_t rolls = 0;
    std::uint64_t drops = 0;
};

class CrashTrial {
  public:
    // `cut_at`: the first life ends with a power cut at this call of the disk; 0: drawn.
    CrashTrial(std::uint64_t seed, std::uint64_t cut_at, CrashCounts& counts)
        : random_(seed * 1'000'003 + cut_at), disk_(seed), cut_at_(cut_at), counts_(counts) {
        disk_.set_hook([this](DiskOperation, std::string_view) { before_call(); });
    }
    ~CrashTrial() { disk_.set_hook({}); }

    // Empty: all is well.
    std::string run(int lives = 6) {
        for (int life = 0; life < lives; ++life) {
            std::string wrong = live(life == 0 ? cut_at_ : 0);
            if (!wrong.empty()) return "life " + std::to_string(life) + ": " + wrong;
        }
        calls_left_ = 0;
        std::string wrong = open();
        if (wrong.empty() && !journal_) wrong = "a log that had no fault does not open: " + refusal_;
        return wrong;
    }

  private:
    enum class Fate { power_cut, killed, killed_in_call, failed_sync, failed_write, full_disk, cut_after_opening };
    struct Killed {};  // flies out of a call of the disk that never took place

    void before_call() {
        ++counts_.calls;
        if (calls_left_ == 0 || --calls_left_ > 0) return;
        if (!journal_) ++counts_.cuts_in_recovery;
        if (fate_ == Fate::killed_in_call) {
            ++counts_.kills_in_call;
            throw Killed{};
        }
        ++counts_.power_cuts;
        off_ = true;
        disk_.power_off(random_);
    }

    std::string live(std::uint64_t cut_at) {
        ++counts_.lives;
        const Fate fate = cut_at != 0 ? Fate::power_cut : static_cast<Fate>(random_.below(7));
        fate_ = fate;
        calls_left_ = cut_at;
        if (cut_at == 0 && (fate == Fate::power_cut || fate == Fate::killed_in_call)) {
            calls_left_ = 1 + random_.below(random_.chance(500'000) ? 12 : 120);
        }
        std::string wrong;
        try {
            wrong = open_and_work(fate);
        } catch (const Killed&) {
        }
        end_life(fate);
        return wrong;
    }

    std::string open_and_work(Fate fate) {
        std::string wrong = open();
        if (wrong.empty() && journal_ && fate != Fate::cut_after_opening) {
            if (fate == Fate::failed_sync) disk_.fail(DiskOperation::sync_data, 1 + random_.below(20));
            if (fate == Fate::failed_write) disk_.fail(DiskOperation::write, 1 + random_.below(20));
            if (fate == Fate::full_disk) disk_.set_capacity(disk_.used_bytes() + random_.below(40'000));
            wrong = work();
        }
        return wrong;
    }

    void end_life(Fate fate) {
        journal_.reset();
        calls_left_ = 0;
        disk_.fail(DiskOperation::sync_data, 0);
        disk_.fail(DiskOperation::write, 0);
        disk_.set_capacity(SimDisk::kDefaultCapacityBytes);
        if (off_) {
            disk_.power_on();
        } else if (fate == Fate::cut_after_opening || random_.chance(300'000)) {
            ++counts_.power_cuts;
            disk_.crash(random_);
        }
        off_ = false;
    }

    // Opens the log and settles what became of the commit that was not answered: from here on it may not change.
    std::string open() {
        Result<std::unique_ptr<LocalJournal>> opened = LocalJournal::open(disk_, kDirectory, options());
        if (!opened) {
            refusal_ = opened.error().message;
            return off_ ? "" : "does not open: " + refusal_;
        }
        journal_ = std::move(*opened);
        const std::uint64_t found = journal_->totals().commit;
        if (journal_->cut()) {
            ++counts_.torn_ends;
            if (!unanswered_) return "something was cut although nothing was being written";
        }
        if (unanswered_ && found == log_.totals().commit + 1) {
            log_.remember(*unanswered_);
            ++counts_.kept_unanswered;
        } else if (unanswered_) {
            ++counts_.lost_unanswered;
        }
        unanswered_.reset();
        if (found != log_.totals().commit) {
            return "acknowledged " + std::to_string(log_.totals().commit) + " commits, but " + std::to_string(found) +
                   " are there";
        }
        return check();
    }

    std::string check() const {
        if (journal_->first_sequence() > std::max<Sequence>(dropped_before_, 1)) return "more was dropped than asked";
        const std::string wrong = log_.compare(*journal_);
        return off_ ? "" : wrong;
    }

    // Until the fate strikes, or for some commits.
    std::string work() {
        const std::uint64_t most = 1 + random_.below(40);
        for (std::uint64_t i = 0; i < most; ++i) {
            if (random_.chance(100'000)) static_cast<void>(journal_->prepare_spares());
            if (random_.chance(50'000)) {
                const Sequence below = random_.below(log_.last_sequence() + 2);
                dropped_before_ = std::max(dropped_before_, below);
                ++counts_.drops;
                if (!journal_->drop_before(below)) return {};
            }
            bool died = false;
            std::string wrong = commit(died);
            if (!wrong.empty() || died) return wrong;
        }
        return check();
    }

    std::string commit(bool& died) {
        const std::uint64_t segment = journal_->room().number;
        const Commit commit = log_.next(random_, journal_->room());
        unanswered_ = commit;
        Status done = journal_->commit(commit);
        if (!done && done.error().code == "no_space"_code) {
            ++counts_.full_disks;
            if (journal_->totals() != log_.totals()) return "a refused commit counts";
            disk_.set_capacity(SimDisk::kDefaultCapacityBytes);
            done = journal_->commit(commit);
            if (!done && done.error().code == "no_space"_code) return "no space on an empty disk";
        }
        if (done) {
            ++counts_.commits;
            if (journal_->room().number != segment) ++counts_.rolls;
            log_.remember(commit);
            unanswered_.reset();
            return {};
        }
        died = true;
        if (!off_) ++counts_.failed_syncs;
        if (done.error().code != "log_failed"_code) return "fails with " + std::string(name_of(done.error().code));
        return journal_->commit(commit) ? "goes on after it failed" : "";
    }

    JournalOptions options() const {
        JournalOptions chosen = trial_options(8 << 10);
        chosen.spare_count = 1;
        return chosen;
    }

    Random random_;
    SimDisk disk_;
    const std::uint64_t cut_at_;
    CrashCounts& counts_;
    TrialLog log_{3, 400};  // what was acknowledged
    std::optional<Commit> unanswered_;
    Sequence dropped_before_ = 0;
    std::unique_ptr<LocalJournal> journal_;
    std::string refusal_;
    std::uint64_t calls_left_ = 0;  // until the power is cut; 0: it stays on
    bool off_ = false;              // the power
    Fate fate_ = Fate::killed;
};

// Under the address sanitizer, which makes a trial some thirty times slower, a tenth of them: it looks for wild memory,
// not for lost commits.
#ifdef __SANITIZE_ADDRESS__
constexpr std::uint64_t kTrialDivisor = 10;
#else
constexpr std::uint64_t kTrialDivisor = 1;
#endif

}  // namespace duewheel

#include "support/memory_rows.h"

#include <cassert>
#include <utility>
#include <vector>

#include "base/error_codes.h"

namespace duewheel {

class MemoryTableBuilder final : public TableBuilder {
  public:
    explicit MemoryTableBuilder(MemoryRowStorage& storage) : storage_(storage) {}

    void put(std::string_view key, std::string_view value) override {
        assert(operations_.empty() || operations_.back().key < key);
        operations_.push_back({std::string(key), std::string(value)});
    }
    void erase(std::string_view key) override {
        assert(operations_.empty() || operations_.back().key < key);
        operations_.push_back({std::string(key), std::nullopt});
    }
    void erase_range(std::string_view lower, std::string_view upper) override {
        assert(lower < upper);
        ranges_.emplace_back(lower, upper);
    }

    Status take_in() override {
        const std::lock_guard lock(storage_.mutex_);
        if (storage_.refused_ > 0) {
            --storage_.refused_;
            return Error{"no_space"_code, "the index in memory was told to have no space for this table"};
        }
        if (storage_.free_bytes_ && storage_.free_bytes_() < bytes()) {
            return Error{"no_space"_code,
                         "a table of " + std::to_string(bytes()) + " bytes does not fit beside the rows"};
        }
        auto& rows = storage_.rows_;
        for (const auto& [lower, upper] : ranges_) rows.erase(rows.lower_bound(lower), rows.lower_bound(upper));
        for (Operation& operation : operations_) {
            if (operation.value) {
                rows.insert_or_assign(std::move(operation.key), *std::move(operation.value));
            } else {
                rows.erase(operation.key);
            }
        }
        return {};
    }

  private:
    std::uint64_t bytes() const {
        std::uint64_t sum = 0;
        for (const Operation& operation : operations_) {
            sum += operation.key.size() + (operation.value ? operation.value->size() : 0);
        }
        return sum;
    }

    struct Operation {
        std::string key;
        std::optional<std::string> value;  // nothing: erase
    };

    MemoryRowStorage& storage_;
    std::vector<Operation> operations_;
    std::vector<std::pair<std::string, std::string>> ranges_;
};

class MemoryRows final : public SortedRows {
  public:
    explicit MemoryRows(MemoryRowStorage& storage) : storage_(storage) {}

    Result<std::optional<std::string>> get(std::string_view key) const override {
        const std::lock_guard lock(storage_.mutex_);
        const auto found = storage_.rows_.find(key);
        if (found == storage_.rows_.end()) return std::optional<std::string>();
        return std::optional<std::string>(found->second);
    }

    // Holds the lock during the visits, so that a scan is consistent: the visitor must not call this class.
    Status scan(std::string_view lower, std::string_view upper, std::size_t limit,
                const RowVisitor& visit) const override {
        assert(lower <= upper);
        const std::lock_guard lock(storage_.mutex_);
        const auto end = storage_.rows_.lower_bound(upper);
        for (auto row = storage_.rows_.lower_bound(lower); row != end && limit > 0; ++row, --limit) {
            if (!visit(row->first, row->second)) break;
        }
        return {};
    }

    std::unique_ptr<TableBuilder> build_table() override { return std::make_unique<MemoryTableBuilder>(storage_); }

    Status verify_checksums() const override { return {}; }

    std::uint64_t bytes() const override {
        const std::lock_guard lock(storage_.mutex_);
        std::uint64_t sum = 0;
        for (const auto& [key, value] : storage_.rows_) sum += key.size() + value.size();
        return sum;
    }

  private:
    MemoryRowStorage& storage_;
};

Result<std::unique_ptr<SortedRows>> MemoryRowStorage::open() {
    {
        const std::lock_guard lock(mutex_);
        if (condemned_) return Error{"damaged_index"_code, "the index in memory was told to be damaged"};
        if (free_bytes_ && free_bytes_() == 0) {
            return Error{"no_space"_code, "the index in memory was told to have no space to be opened"};
        }
    }
    return std::unique_ptr<SortedRows>(std::make_unique<MemoryRows>(*this));
}

Status MemoryRowStorage::condemn() {
    const std::lock_guard lock(mutex_);
    condemned_ = true;
    return {};
}

Status MemoryRowStorage::discard() {
    const std::lock_guard lock(mutex_);
    rows_.clear();
    condemned_ = false;
    return {};
}

void MemoryRowStorage::refuse_tables(std::size_t times) {
    const std::lock_guard lock(mutex_);
    refused_ = times;
}

void MemoryRowStorage::set_free_space(std::function<std::uint64_t()> free_bytes) {
    const std::lock_guard lock(mutex_);
    free_bytes_ = std::move(free_bytes);
}

std::size_t MemoryRowStorage::row_count() const {
    const std::lock_guard lock(mutex_);
    return rows_.size();
}

}  // namespace duewheel

// The disks of another process that runs beside the server: it reads the server's disk, and the server continues
// between any two of its calls; it writes to a disk of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"

namespace duewheel {

class BesideServer final : public FileSystem {
  public:
    // `directory`: the server's, on `server`; all others are on `own`. `meanwhile` is called before each call.
    BesideServer(FileSystem& server, std::string directory, FileSystem& own, std::function<void()> meanwhile)
        : server_(server), directory_(std::move(directory)), own_(own), meanwhile_(std::move(meanwhile)) {}

    Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override {
        return disk_of(path).open(path, mode);
    }
    Result<std::vector<std::string>> list(const std::string& directory) const override {
        return disk_of(directory).list(directory);
    }
    Status remove(const std::string& path) override { return disk_of(path).remove(path); }
    Status remove_tree(const std::string& path) override { return disk_of(path).remove_tree(path); }
    Status rename(const std::string& from, const std::string& to) override { return disk_of(from).rename(from, to); }
    Status make_directories(const std::string& path) override { return disk_of(path).make_directories(path); }
    Status sync_directory(const std::string& directory) override {
        return disk_of(directory).sync_directory(directory);
    }
    Result<std::unique_ptr<DirectoryLock>> lock(const std::string& directory) override {
        return disk_of(directory).lock(directory);
    }
    Result<std::uint64_t> free_bytes(const std::string& directory) const override {
        return disk_of(directory).free_bytes(directory);
    }

  private:
    FileSystem& disk_of(const std::string& path) const {
        meanwhile_();
        return path.starts_with(directory_) ? server_ : own_;
    }

    FileSystem& server_;
    const std::string directory_;
    FileSystem& own_;
    const std::function<void()> meanwhile_;
};

}  // namespace duewheel

// Tests that need the real disk: error texts of the operating system, descriptors, locks between processes. The
// behaviour shared with the simulated disk is tested in tests/support/file_system_conformance_test.cc.
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/disk_guard.h"
#include "base/error_codes.h"
#include "base/file.h"
#include "support/temporary_directory.h"

namespace {

// The paths that were synced, oldest first. Nothing else shows, short of a power cut, whether a sync was asked for.
std::vector<std::string>& synced_paths() {
    static std::vector<std::string> paths;
    return paths;
}

void note_sync(int descriptor) {
    std::error_code ignored;
    const std::filesystem::path link = std::filesystem::path("/proc/self/fd") / std::to_string(descriptor);
    synced_paths().push_back(std::filesystem::read_symlink(link, ignored));
}

}  // namespace

// These stand in front of the C library's for the whole test program.
extern "C" int fsync(int descriptor) {
    note_sync(descriptor);
    return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

extern "C" int fdatasync(int descriptor) {
    note_sync(descriptor);
    return static_cast<int>(::syscall(SYS_fdatasync, descriptor));
}

namespace duewheel {
namespace {

using Paths = std::vector<std::string>;

ConstBytes bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

// Runs `body` in a forked child; returns the exit status that it chose.
template <class Body>
int exit_of_child(Body body) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(body());
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST(PosixFile, error_names_the_path_and_the_words_of_the_system) {
    const TemporaryDirectory folder;
    const auto opened = posix_file_system().open(folder.at("absent"), OpenMode::read);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, "not_found"_code);
    EXPECT_EQ(opened.error().message, "cannot open " + folder.at("absent") + ": No such file or directory");
}

TEST(PosixFile, a_full_device_is_no_space) {
    auto full = posix_file_system().open("/dev/full", OpenMode::read_write);
    ASSERT_TRUE(full.ok());
    const Status written = (*full)->write_at(0, bytes_of("x"));
    ASSERT_FALSE(written.ok());
    EXPECT_EQ(written.error().code, "no_space"_code);
}

TEST(PosixFile, syncs_reach_the_system_and_their_failure_comes_back) {
    const TemporaryDirectory folder;
    auto file = posix_file_system().open(folder.at("file"), OpenMode::create);
    ASSERT_TRUE(file.ok());
    synced_paths().clear();
    EXPECT_TRUE((*file)->sync_data().ok());
    EXPECT_TRUE(posix_file_system().sync_directory(folder.path()).ok());
    EXPECT_EQ(synced_paths(), (Paths{folder.at("file"), folder.path()}));
    // Neither a device nor the process table can be synced.
    auto device = posix_file_system().open("/dev/null", OpenMode::read_write);
    ASSERT_TRUE(device.ok());
    EXPECT_EQ((*device)->sync_data().error().code, "io_error"_code);
    EXPECT_EQ(posix_file_system().sync_directory("/proc/self").error().code, "io_error"_code);
}

TEST(PosixFile, each_made_directory_is_synced_in_its_parent_before_the_next_is_made) {
    const TemporaryDirectory folder;
    const std::string above = std::filesystem::path(folder.path()).parent_path();
    synced_paths().clear();
    ASSERT_TRUE(posix_file_system().make_directories(folder.at("a/b/")).ok());
    EXPECT_EQ(synced_paths(), (Paths{above, folder.path(), folder.at("a")}));
    // Found in place, it may be what a killed run made and did not sync any more.
    synced_paths().clear();
    ASSERT_TRUE(posix_file_system().make_directories(folder.at("a/b")).ok());
    EXPECT_EQ(synced_paths(), Paths{folder.at("a")});
}

// The kernel returns such a file one page at a time, regardless of the requested size.
TEST(PosixFile, a_read_that_the_system_cut_short_goes_on) {
    const auto symbols = posix_file_system().open("/proc/kallsyms", OpenMode::read);
    std::vector<std::byte> into(1 << 16);
    if (!symbols || !(*symbols)->read_at(0, std::span(into).first(1)).ok()) GTEST_SKIP() << "no /proc/kallsyms here";
    EXPECT_EQ((*symbols)->read_at(0, into).value(), into.size());
}

// A write over the file size limit does less than asked, and only the next call fails: a write that did not loop would
// report success.
TEST(PosixFile, a_write_that_the_system_cut_short_is_not_taken_for_done) {
    const TemporaryDirectory folder;
    const int result = exit_of_child([&] {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{1000, 1000};
        if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
        auto file = posix_file_system().open(folder.at("file"), OpenMode::create);
        if (!file) return 3;
        const Status written = (*file)->write_at(0, std::vector<std::byte>(1500));
        if ((*file)->size().value() != 1000) return 4;
        return written.ok() ? 1 : 0;
    });
    EXPECT_EQ(result, 0);
}

TEST(PosixFile, an_offset_beyond_the_signed_range_is_refused) {
    const TemporaryDirectory folder;
    auto file = posix_file_system().open(folder.at("file"), OpenMode::create);
    ASSERT_TRUE(file.ok());
    constexpr std::uint64_t kTooFar = std::uint64_t{1} << 63;
    std::byte one[1];
    EXPECT_FALSE((*file)->read_at(kTooFar, one).ok());
    EXPECT_FALSE((*file)->write_at(kTooFar, one).ok());
    EXPECT_FALSE((*file)->write_at(kTooFar - 1, one).ok());
    EXPECT_FALSE((*file)->truncate(kTooFar).ok());
    EXPECT_EQ((*file)->size().value(), 0u);
}

TEST(PosixFile, no_descriptor_outlives_an_exec) {
    const TemporaryDirectory folder;
    const auto lock = posix_file_system().lock(folder.path());
    const auto file = posix_file_system().open(folder.at("file"), OpenMode::create);
    ASSERT_TRUE(lock.ok() && file.ok());
    int seen = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
        if (gone || !target.starts_with(folder.path())) continue;
        ++seen;
        EXPECT_TRUE(::fcntl(std::stoi(entry.path().filename()), F_GETFD) & FD_CLOEXEC) << target;
    }
    EXPECT_EQ(seen, 2);
}

TEST(PosixFile, closes_what_it_opened) {
    const TemporaryDirectory folder;
    const auto open_descriptors = [] {
        const std::filesystem::directory_iterator all("/proc/self/fd");
        return std::distance(begin(all), end(all));
    };
    const auto before = open_descriptors();
    for (int round = 0; round < 3; ++round) {
        const auto lock = posix_file_system().lock(folder.path());
        const auto file = posix_file_system().open(folder.at("f") + std::to_string(round), OpenMode::create);
        ASSERT_TRUE(lock.ok() && file.ok());
        ASSERT_TRUE(posix_file_system().sync_directory(folder.path()).ok());
        ASSERT_TRUE(posix_file_system().list(folder.path()).ok());
        ASSERT_FALSE(posix_file_system().open(folder.path(), OpenMode::read).ok());
    }
    EXPECT_EQ(open_descriptors(), before);
}

TEST(PosixFile, lock_held_here_is_in_use_for_a_child_until_it_is_released) {
    const TemporaryDirectory folder;
    const auto try_lock = [&] {
        const auto lock = posix_file_system().lock(folder.path());
        return lock.ok() ? 0 : lock.error().code == "in_use"_code ? 1 : 2;
    };
    auto lock = posix_file_system().lock(folder.path());
    ASSERT_TRUE(lock.ok());
    EXPECT_EQ(exit_of_child(try_lock), 1);
    lock = Error{"io_error"_code, "released", {}};
    EXPECT_EQ(exit_of_child(try_lock), 0);
}

TEST(PosixFile, lock_of_a_killed_process_is_free) {
    const TemporaryDirectory folder;
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const auto lock = posix_file_system().lock(folder.path());
        const char answer = lock.ok() ? 'y' : 'n';
        if (::write(ready[1], &answer, 1) != 1) ::_exit(1);
        for (;;) ::pause();
    }
    char answer = 0;
    const ssize_t got = ::read(ready[0], &answer, 1);
    const auto during = posix_file_system().lock(folder.path());
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(ready[0]);
    ::close(ready[1]);
    ASSERT_EQ(got, 1);
    ASSERT_EQ(answer, 'y');
    ASSERT_FALSE(during.ok());
    EXPECT_EQ(during.error().code, "in_use"_code);
    EXPECT_NE(during.error().message.find(folder.at("LOCK")), std::string::npos);
    EXPECT_TRUE(posix_file_system().lock(folder.path()).ok());
}

TEST(PosixFile, removing_a_tree_does_not_follow_links_out_of_it) {
    const TemporaryDirectory folder;
    const TemporaryDirectory outside;
    ASSERT_TRUE(posix_file_system().open(outside.at("keep"), OpenMode::create).ok());
    ASSERT_TRUE(posix_file_system().make_directories(folder.at("tree")).ok());
    std::filesystem::create_directory_symlink(outside.path(), folder.at("tree/link"));
    ASSERT_TRUE(posix_file_system().remove_tree(folder.at("tree")).ok());
    EXPECT_TRUE(std::filesystem::exists(outside.at("keep")));
}

// The line with which a server ended named `spare-3.filling`, which no longer existed: the file was a segment of the
// log.
TEST(PosixFile, an_error_names_the_file_as_it_is_called_now) {
    const TemporaryDirectory folder;
    ASSERT_TRUE(posix_file_system().open(folder.at("spare-3.filling"), OpenMode::create).ok());
    const auto file = posix_file_system().open(folder.at("spare-3.filling"), OpenMode::read);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(posix_file_system().rename(folder.at("spare-3.filling"), folder.at("seg-1.log")).ok());
    const std::string text(1, 'x');
    const Status written = (*file)->write_at(0, std::as_bytes(std::span(text)));
    ASSERT_FALSE(written.ok());
    EXPECT_NE(written.error().message.find("cannot write " + folder.at("seg-1.log") + ":"), std::string::npos)
        << written.error().message;
    ASSERT_TRUE(posix_file_system().remove(folder.at("seg-1.log")).ok());
    EXPECT_NE((*file)->write_at(0, std::as_bytes(std::span(text))).error().message.find("spare-3.filling"),
              std::string::npos);
}

TEST(PosixFile, others_may_not_read_what_was_written) {
    const TemporaryDirectory folder;
    ASSERT_TRUE(posix_file_system().make_directories(folder.at("d")).ok());
    ASSERT_TRUE(posix_file_system().open(folder.at("d/f"), OpenMode::create).ok());
    for (const char* name : {"d", "d/f"}) {
        struct stat facts {};
        ASSERT_EQ(::stat(folder.at(name).c_str(), &facts), 0);
        EXPECT_EQ(facts.st_mode & 0007, 0u) << name;
    }
}

#ifndef NDEBUG
// The loop's thread of a server must not wait for the disk; that it does would show only under load.
TEST(PosixFileDeathTest, a_thread_that_forbade_itself_the_disk_may_not_touch_it) {
    const TemporaryDirectory directory;
    auto file = posix_file_system().open(directory.path() + "/f", OpenMode::create);
    ASSERT_TRUE(file.ok());
    EXPECT_DEATH(
        {
            const DiskForbidden here;
            static_cast<void>((*file)->sync_data().ok());
        },
        "must not wait for the disk");
    EXPECT_TRUE((*file)->sync_data().ok());
}
#endif

}  // namespace
}  // namespace duewheel

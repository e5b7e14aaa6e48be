#include "server/process/supervisor.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <future>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error_codes.h"
#include "support/temporary_directory.h"

namespace duewheel::supervisor_test {
namespace {

// The other side of NOTIFY_SOCKET.
class Manager {
  public:
    explicit Manager(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_DGRAM, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, path.data(), path.size());
        if (path.front() == '@') address.sun_path[0] = '\0';
        const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
        EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), size), 0);
    }
    ~Manager() { ::close(socket_); }

    std::string heard() {
        char text[100];
        const ssize_t size = ::recv(socket_, text, sizeof text, MSG_DONTWAIT);
        return size < 0 ? "nothing" : std::string(text, static_cast<std::size_t>(size));
    }

  private:
    int socket_;
};

TEST(Supervisor, is_notified_at_a_path_and_at_an_abstract_name) {
    const TemporaryDirectory directory;
    for (const std::string& name : {directory.path() + "/notify", "@duewheel-test-" + directory.path()}) {
        Manager manager(name);
        const Supervisor told(name);
        EXPECT_TRUE(told.tell("READY=1")) << name;
        EXPECT_TRUE(told.tell("STOPPING=1")) << name;
        EXPECT_EQ(manager.heard(), "READY=1");
        EXPECT_EQ(manager.heard(), "STOPPING=1");
        EXPECT_EQ(manager.heard(), "nothing");
    }
}

TEST(Supervisor, is_sent_a_keep_alive_twice_in_its_interval) {
    EXPECT_EQ(watchdog_interval("60000000", nullptr, 7).count(), 30'000'000);
    EXPECT_EQ(watchdog_interval("60000000", "7", 7).count(), 30'000'000);
}

TEST(Supervisor, is_sent_no_keep_alive_without_a_request_or_for_another_process) {
    EXPECT_EQ(watchdog_interval(nullptr, nullptr, 7).count(), 0);
    EXPECT_EQ(watchdog_interval("60000000", "8", 7).count(), 0);
    for (const char* odd : {"", "0", "-5", "1m", "99999999999999999999"}) {
        EXPECT_EQ(watchdog_interval(odd, nullptr, 7).count(), 0) << odd;
    }
}

TEST(Supervisor, that_does_not_exist_is_sent_nothing) {
    EXPECT_TRUE(Supervisor("").tell("READY=1"));
}

TEST(Supervisor, that_cannot_be_reached_is_an_error_and_nothing_else) {
    const TemporaryDirectory directory;
    for (const std::string& name : {directory.path() + "/none", std::string(300, 'x')}) {
        const Status told = Supervisor(name).tell("READY=1");
        ASSERT_FALSE(told);
        EXPECT_EQ(told.error().code, "unreachable"_code);
    }
}

TEST(Supervisor, is_kept_alive_by_a_thread_until_a_step_ends) {
    std::atomic<int> calls{0};
    std::promise<void> third;
    {
        const KeepAlive alive(
            [&] {
                if (++calls == 3) third.set_value();
            },
            std::chrono::milliseconds(1));
        third.get_future().wait();
    }
    EXPECT_GE(calls, 3);
    const KeepAlive never([&] { calls = -1; }, std::chrono::microseconds(0));
    EXPECT_GE(calls, 3);
}

}  // namespace
}  // namespace duewheel::supervisor_test

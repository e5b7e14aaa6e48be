#include "net/unix_socket.h"

#include <array>
#include <cstring>
#include <string>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error_codes.h"
#include "support/temporary_directory.h"

namespace duewheel::unix_socket_test {
namespace {

// A socket bound to a file. Closed at its end.
class BoundSocket {
  public:
    explicit BoundSocket(std::string path) : path_(std::move(path)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path_.c_str(), sizeof address.sun_path - 1);
        is_closed_to_others = close_to_others(socket_);
        is_bound = ::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    }
    ~BoundSocket() { ::close(socket_); }
    BoundSocket(const BoundSocket&) = delete;
    BoundSocket& operator=(const BoundSocket&) = delete;

    mode_t mode() const {
        struct stat about {};
        EXPECT_EQ(::stat(path_.c_str(), &about), 0);
        return about.st_mode & 07777;
    }

    bool is_closed_to_others = false;
    bool is_bound = false;

  private:
    const std::string path_;
    const int socket_ = ::socket(AF_UNIX, SOCK_STREAM, 0);
};

// A mode that is set after bind() leaves a moment in which the file has that of the umask.
TEST(UnixSocket, is_created_for_its_user_only_whatever_the_umask) {
    const TemporaryDirectory directory;
    const std::string path = directory.at("socket");
    const mode_t before = ::umask(0);
    const BoundSocket socket(path);
    ::umask(before);
    ASSERT_TRUE(socket.is_closed_to_others);
    ASSERT_TRUE(socket.is_bound);
    EXPECT_EQ(socket.mode(), 0600u);
    ASSERT_TRUE(open_to_group(path, ::getegid()).ok());
    EXPECT_EQ(socket.mode(), 0660u);
}

TEST(UnixSocket, a_group_is_given_no_file_behind_a_link) {
    const TemporaryDirectory directory;
    const std::string link = directory.at("link");
    ASSERT_EQ(::symlink("/dev/null", link.c_str()), 0);
    const Status opened = open_to_group(link, ::getegid());
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, "io_error"_code);
}

TEST(UnixSocket, its_client_is_known_by_the_user) {
    std::array<int, 2> pair{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()), 0);
    EXPECT_EQ(peer_of(pair[0]), "uid:" + std::to_string(::getuid()));
    for (const int socket : pair) ::close(socket);
}

TEST(UnixSocket, a_client_of_tcp_is_known_by_its_address) {
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    ASSERT_EQ(::bind(listener, raw, size), 0);
    ASSERT_EQ(::listen(listener, 1), 0);
    ASSERT_EQ(::getsockname(listener, raw, &size), 0);
    const int client = ::socket(AF_INET, SOCK_STREAM, 0);
    ASSERT_EQ(::connect(client, raw, size), 0);
    EXPECT_EQ(peer_of(client), "127.0.0.1");
    ::close(client);
    ::close(listener);
    EXPECT_EQ(peer_of(-1), "unknown");
}

}  // namespace
}  // namespace duewheel::unix_socket_test

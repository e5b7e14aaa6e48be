// A real server for a test, in a temporary directory and with a clock that the test moves.
//
//     using Reminders = duewheel::client::ServerTest;
//     TEST_F(Reminders, is_sent_after_a_day) {
//         client.put("mail", "hello", {.delay = 24h}).value();
//         server.advance(24h);
//         ...
//     }
//
// The program duewheeld is found in the folder that DUEWHEEL_BIN names, or on the PATH. What fails throws
// std::runtime_error, which fails the test. The target is duewheel::client_testing, and the fixture needs GoogleTest.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "duewheel/client/client.h"

#if __has_include(<gtest/gtest.h>)
#include <gtest/gtest.h>
#endif

namespace duewheel::client {

class TestServer {
  public:
    // Starts a server with more arguments of duewheeld, and waits until it is ready.
    explicit TestServer(const std::vector<std::string>& arguments = {});
    // Ends it, and removes its data.
    ~TestServer();
    TestServer(const TestServer&) = delete;

    const std::string& url() const { return url_; }
    const Client& client() const { return *client_; }

    // Moves the time of the server. Before that it waits until no message is leased, because the step would end the
    // leases.
    void advance(Duration by);
    // Waits until the workers of the test have handled all messages that are due.
    void run_until_idle();
    // The unfinished messages of a queue by due time, with their content.
    std::vector<Message> messages(const std::string& queue) const;
    // The first unfinished message of the queue with this data.
    template <class T>
    Message assert_put(const std::string& queue, const T& data) const {
        const Content wanted = encode(data);
        std::string listed;
        for (Message& message : messages(queue)) {
            if (has_data<T>(message.content, wanted)) return std::move(message);
            listed += "\n  " + message.content.data;
        }
        throw std::runtime_error(wanted.data + " is not in the queue " + queue + "; there is:" + listed);
    }

  private:
    template <class T>
    static bool has_data(const Content& content, const Content& wanted) {
        if (content == wanted) return true;
        if constexpr (!std::convertible_to<const T&, std::string_view>) {
            try {
                return encode(Codec<T>::decode(content)) == wanted;  // the same data may be written in another way
            } catch (const std::exception&) {
            }
        }
        return false;
    }
    void shut_down();
    void wait_until(const char* what, bool (*holds)(long ready, long leased)) const;

    std::string directory_;
    std::string url_;
    int process_ = -1;
    std::unique_ptr<Client> client_;
};

#if __has_include(<gtest/gtest.h>)
// A fixture for GoogleTest: a server of its own for each test. Workers are declared in the test, so they stop before
// it.
class ServerTest : public ::testing::Test {
  protected:
    TestServer server;
    Client client = server.client();
};
#endif

}  // namespace duewheel::client

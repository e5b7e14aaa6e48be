#include "net/listener.h"

#include <algorithm>
#include <cerrno>

#include <boost/asio/error.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error_codes.h"
#include "net/listen_address.h"
#include "net/unix_socket.h"

namespace duewheel {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Local = asio::local::stream_protocol;

bool is_socket_file(const std::string& path) {
    struct stat found {};
    return ::lstat(path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode);
}

// Whether no process listens on the socket. One of another user cannot be connected to, and may be in use.
bool is_left_over(asio::io_context& context, const std::string& path) {
    asio::basic_stream_socket<Local, asio::io_context::executor_type> probe(context.get_executor());
    error_code error;
    probe.connect(Local::endpoint(path), error);
    return error == asio::error::connection_refused;
}

}  // namespace

Result<std::shared_ptr<Listener>> Listener::bind_tcp(asio::io_context& context, std::string_view address) {
    const Result<tcp::endpoint> endpoint = parse_listen_address(address);
    if (!endpoint) return endpoint.error();
    // Shared, see Connections::listeners_.
    auto listener = std::make_shared<Listener>(context);
    if (Status bound = listener->bind(*endpoint, address); !bound) return std::move(bound).error();
    error_code error;
    const tcp::endpoint local = tcp_endpoint(listener->acceptor.local_endpoint(error));
    if (error) return listen_error(address, error);
    listener->bound = {local.address().to_string(), local.port()};
    listener->address = listener->bound.text();
    return listener;
}

Result<std::shared_ptr<Listener>> Listener::bind_unix(asio::io_context& context, const std::string& address,
                                                      std::optional<gid_t> group) {
    const std::string path = address.substr(kUnixPrefix.size());
    constexpr std::size_t kPathMax = sizeof(sockaddr_un::sun_path) - 1;
    if (path.empty() || path.size() > kPathMax) {
        return Error{"bad_address"_code,
                     "\"" + address + "\" is not a socket to listen on; write unix:PATH with a path of up to " +
                         std::to_string(kPathMax) + " bytes, such as unix:/run/duewheel/socket.",
                     ""};
    }
    if (is_socket_file(path) && is_left_over(context, path)) ::unlink(path.c_str());
    auto listener = std::make_shared<Listener>(context);
    if (Status bound = listener->bind(Local::endpoint(path), address); !bound) return std::move(bound).error();
    listener->address = address;
    listener->path_ = path;
    if (group) {
        if (Status opened = open_to_group(path, *group); !opened) return std::move(opened).error();
    }
    return listener;
}

Status Listener::bind(const StreamProtocol::endpoint& endpoint, std::string_view to) {
    error_code error;
    acceptor.open(endpoint.protocol(), error);
    if (!error && !is_tcp(endpoint)) {
        if (!close_to_others(acceptor.native_handle())) error.assign(errno, boost::system::generic_category());
    } else if (!error) {
        acceptor.set_option(asio::socket_base::reuse_address(true), error);
    }
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.non_blocking(true, error);
    return error ? Status(listen_error(to, error)) : Status();
}

Listener::~Listener() {
    if (!path_.empty()) ::unlink(path_.c_str());
}

Status Listener::listen() {
    error_code error;
    acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) return listen_error(address, error);
    is_listening = true;
    return {};
}

bool is_tcp(const StreamProtocol::endpoint& endpoint) {
    return endpoint.protocol().family() != AF_UNIX;
}

tcp::endpoint tcp_endpoint(const StreamProtocol::endpoint& endpoint) {
    tcp::endpoint as_tcp;
    as_tcp.resize(endpoint.size());
    std::copy_n(reinterpret_cast<const char*>(endpoint.data()), endpoint.size(),
                reinterpret_cast<char*>(as_tcp.data()));
    return as_tcp;
}

}  // namespace duewheel

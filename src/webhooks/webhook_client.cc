#include "webhooks/webhook_client.h"

#include <array>
#include <cassert>
#include <cctype>
#include <map>
#include <stdexcept>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <curl/curl.h>
#include <sys/socket.h>

#include "base/text_ends.h"
#include "net/event_loop.h"
#include "webhooks/webhook_message.h"

namespace duewheel {
namespace {

namespace asio = boost::asio;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>,
                                         asio::io_context::executor_type>;
using Descriptor = asio::posix::basic_stream_descriptor<asio::io_context::executor_type>;

constexpr std::size_t kHeaderBytesMax = 64u << 10;
constexpr std::size_t kHandlesKept = 256;

// libcurl reads dates, which begin with the name of a day. Of a value that begins with a digit it reads the leading
// number, and no number that is too large for it.
std::int64_t retry_after_s(CURL* easy) {
    curl_header* header = nullptr;
    if (curl_easy_header(easy, "Retry-After", 0, CURLH_HEADER, -1, &header) != CURLHE_OK) return 0;
    const std::string_view text = header->value;
    const bool is_date = !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0;
    if (!is_date) return retry_after_number_s(text);
    curl_off_t read_s = 0;
    curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &read_s);
    return read_s;
}

void set_up_library() {
    static const bool is_set_up = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    if (!is_set_up) throw std::runtime_error("libcurl could not be set up");
}

bool has_line_end(std::string_view text) {
    return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos;
}

WebhookAnswer::Kind kind_of(CURLcode code) {
    using Kind = WebhookAnswer::Kind;
    switch (code) {
        case CURLE_OK:
            return Kind::answered;
        case CURLE_COULDNT_RESOLVE_HOST:
        case CURLE_COULDNT_CONNECT:
            return Kind::unreachable;
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CONNECT_ERROR:
        case CURLE_SSL_CACERT_BADFILE:
        case CURLE_SSL_INVALIDCERTSTATUS:
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            return Kind::untrusted;
        case CURLE_OPERATION_TIMEDOUT:
            return Kind::timed_out;
        default:
            return Kind::broken;
    }
}

struct FreeList {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Fields = std::unique_ptr<curl_slist, FreeList>;

// Throws std::bad_alloc.
void append(Fields& to, const std::string& line) {
    curl_slist* const longer = curl_slist_append(to.get(), line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    static_cast<void>(to.release());
    to.reset(longer);
}

// A header that the library would add is listed without a value, which suppresses it.
Fields fields_of(const WebhookRequest& request) {
    Fields fields;
    bool has_type = false;
    for (const auto& [name, value] : request.fields) {
        assert(!has_line_end(name) && !has_line_end(value));
        if (has_line_end(name) || has_line_end(value)) continue;
        append(fields, value.empty() ? name + ";" : name + ": " + value);
        has_type = has_type || curl_strequal(name.c_str(), "content-type") != 0;
    }
    append(fields, "Expect:");
    append(fields, "Accept:");
    if (!has_type) append(fields, "Content-Type:");
    return fields;
}

}  // namespace

// One request, owned by the library until it is done.
struct WebhookClient::Transfer {
    Transfer(Parts& owner, CURL* handle) : parts(owner), easy(handle) {}
    ~Transfer() { curl_easy_cleanup(easy); }
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;

    Parts& parts;
    CURL* const easy;
    WebhookRequest request;
    Done done;
    Fields fields;
    std::string refused;  // why an address is not allowed
    TextEnds answer{kTextBytesMax};
    std::size_t answer_bytes = 0;
    std::size_t header_bytes = 0;
    bool is_cut = false;     // by this client
    bool was_sent = false;   // or partly
    bool is_repeat = false;  // it would have been sent a second time
    std::array<char, CURL_ERROR_SIZE> error{};
};

// A socket that the library watches.
struct WebhookClient::Watch : std::enable_shared_from_this<WebhookClient::Watch> {
    Watch(Parts& owner, curl_socket_t socket);

    void want(int what);
    void wait(int bit, asio::posix::descriptor_base::wait_type type);

    Parts& parts;
    const curl_socket_t fd;
    Descriptor descriptor;
    int wanted = 0;
    int waiting = 0;
};

struct WebhookClient::Parts : std::enable_shared_from_this<WebhookClient::Parts> {
    Parts(EventLoop& on_loop, Options chosen)
        : loop(on_loop), options(std::move(chosen)), multi(curl_multi_init()), timer(loop.context().get_executor()) {}
    ~Parts() {
        assert(transfers.empty());
        curl_multi_cleanup(multi);
    }
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;

    void set_up();
    void give_up();
    std::unique_ptr<Transfer> fresh();
    void begin(std::unique_ptr<Transfer> transfer);
    void drive(curl_socket_t socket, int events);
    void end(CURL* easy, CURLcode code);
    static WebhookAnswer answer_of(Transfer& transfer, CURLcode code);

    static int on_socket(CURL*, curl_socket_t socket, int what, void* self, void*);
    static int on_timer(CURLM*, long timeout_ms, void* self);
    static curl_socket_t open_socket(void* transfer, curlsocktype, curl_sockaddr* address);
    static int before_sending(void* transfer, char* peer, char*, int port, int);
    static std::size_t on_body(char* bytes, std::size_t, std::size_t size, void* transfer);
    static std::size_t on_header(char*, std::size_t, std::size_t size, void* transfer);

    EventLoop& loop;
    Options options;
    CURLM* const multi;
    Timer timer;
    bool gave_up = false;
    std::map<curl_socket_t, std::shared_ptr<Watch>> watches;
    std::map<CURL*, std::unique_ptr<Transfer>> transfers;
    std::vector<std::unique_ptr<Transfer>> spare;
};

// ---- sockets and time

WebhookClient::Watch::Watch(Parts& owner, curl_socket_t socket)
    : parts(owner), fd(socket), descriptor(owner.loop.context().get_executor(), socket) {}

void WebhookClient::Watch::want(int what) {
    wanted = what;
    wait(CURL_POLL_IN, asio::posix::descriptor_base::wait_read);
    wait(CURL_POLL_OUT, asio::posix::descriptor_base::wait_write);
}

// One wait in each direction at a time; when it ends, the library requests the next one.
void WebhookClient::Watch::wait(int bit, asio::posix::descriptor_base::wait_type type) {
    if ((wanted & bit) == 0 || (waiting & bit) != 0) return;
    waiting |= bit;
    descriptor.async_wait(type, [self = shared_from_this(), owner = parts.shared_from_this(), bit,
                                 type](const boost::system::error_code& error) {
        self->waiting &= ~bit;
        const auto current = owner->watches.find(self->fd);
        const bool is_current = current != owner->watches.end() && current->second == self;
        if (!is_current || error == asio::error::operation_aborted || (self->wanted & bit) == 0) return;
        const int events = (bit == CURL_POLL_IN ? CURL_CSELECT_IN : CURL_CSELECT_OUT) | (error ? CURL_CSELECT_ERR : 0);
        owner->drive(self->fd, events);
        const auto after = owner->watches.find(self->fd);
        if (!error && after != owner->watches.end() && after->second == self) self->wait(bit, type);
    });
}

// The library closes the descriptor.
int WebhookClient::Parts::on_socket(CURL*, curl_socket_t socket, int what, void* self, void*) {
    Parts& parts = *static_cast<Parts*>(self);
    const auto known = parts.watches.find(socket);
    if (what == CURL_POLL_REMOVE) {
        if (known == parts.watches.end()) return 0;
        known->second->wanted = 0;
        static_cast<void>(known->second->descriptor.release());
        parts.watches.erase(known);
        return 0;
    }
    if (parts.gave_up) return 0;
    std::shared_ptr<Watch> watch =
        known != parts.watches.end() ? known->second : std::make_shared<Watch>(parts, socket);
    parts.watches[socket] = watch;
    watch->want(what);
    return 0;
}

// The library must not be called from here, so even an immediate timeout waits for the loop.
int WebhookClient::Parts::on_timer(CURLM*, long timeout_ms, void* self) {
    Parts& parts = *static_cast<Parts*>(self);
    if (timeout_ms < 0 || parts.gave_up) {
        parts.timer.cancel();
        return 0;
    }
    parts.timer.expires_after(std::chrono::milliseconds(timeout_ms));
    parts.timer.async_wait([owner = parts.shared_from_this()](const boost::system::error_code& error) {
        if (!error && !owner->gave_up) owner->drive(CURL_SOCKET_TIMEOUT, 0);
    });
    return 0;
}

void WebhookClient::Parts::drive(curl_socket_t socket, int events) {
    int running = 0;
    curl_multi_socket_action(multi, socket, events, &running);
    int left = 0;
    while (!gave_up) {
        CURLMsg* const message = curl_multi_info_read(multi, &left);
        if (message == nullptr) return;
        if (message->msg == CURLMSG_DONE) end(message->easy_handle, message->data.result);
    }
}

// ---- callbacks of the library during a transfer

curl_socket_t WebhookClient::Parts::open_socket(void* transfer, curlsocktype, curl_sockaddr* address) {
    Transfer& self = *static_cast<Transfer*>(transfer);
    const std::optional<IpAddress> ip = ip_address_of(address->addr);
    const std::string_view what =
        ip ? self.parts.options.addresses.refusal(*ip, port_of(address->addr)) : "an address of an unknown family";
    if (!what.empty()) {
        self.refused = (ip ? ip->to_string() + " is " : "It is ") + std::string(what) + ".";
        return CURL_SOCKET_BAD;
    }
    return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

int WebhookClient::Parts::before_sending(void* transfer, char* peer, char*, int port, int) {
    Transfer& self = *static_cast<Transfer*>(transfer);
    const std::optional<IpAddress> ip = parse_ip_address(peer);
    const bool may_be = ip && self.parts.options.addresses.refusal(*ip, static_cast<std::uint16_t>(port)).empty();
    // If a kept connection ends without a response, the library retries on another one, up to five times. The target
    // may have read each request; an attempt is one post.
    self.is_repeat = std::exchange(self.was_sent, true);
    if (may_be) return self.is_repeat ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
    self.refused = std::string(peer) + " must not be connected to.";
    return CURL_PREREQFUNC_ABORT;
}

std::size_t WebhookClient::Parts::on_body(char* bytes, std::size_t, std::size_t size, void* transfer) {
    Transfer& self = *static_cast<Transfer*>(transfer);
    self.answer_bytes += size;
    self.answer.append({bytes, size});
    self.is_cut = self.answer_bytes > self.parts.options.answer_bytes_max;
    return self.is_cut ? CURL_WRITEFUNC_ERROR : size;
}

std::size_t WebhookClient::Parts::on_header(char*, std::size_t, std::size_t size, void* transfer) {
    Transfer& self = *static_cast<Transfer*>(transfer);
    self.header_bytes += size;
    return self.header_bytes > kHeaderBytesMax ? 0 : size;
}

// ---- the life of a transfer

void WebhookClient::Parts::set_up() {
    if (multi == nullptr) throw std::runtime_error("libcurl could not be set up");
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &Parts::on_socket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &Parts::on_timer);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, this);
    curl_multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, static_cast<long>(options.connections_max));
    curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, static_cast<long>(options.connections_per_host_max));
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, static_cast<long>(options.connections_max));
}

void WebhookClient::Parts::give_up() {
    gave_up = true;
    timer.cancel();
    for (const auto& [easy, transfer] : transfers) curl_multi_remove_handle(multi, easy);
    transfers.clear();
    spare.clear();
    for (const auto& [socket, watch] : watches) static_cast<void>(watch->descriptor.release());
    watches.clear();
}

std::unique_ptr<WebhookClient::Transfer> WebhookClient::Parts::fresh() {
    if (!spare.empty()) {
        std::unique_ptr<Transfer> transfer = std::move(spare.back());
        spare.pop_back();
        return transfer;
    }
    CURL* const easy = curl_easy_init();
    if (easy == nullptr) throw std::bad_alloc();
    auto transfer = std::make_unique<Transfer>(*this, easy);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer.get());
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->error.data());
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    // A name is resolved on a thread that cannot be stopped. Without this option the end of the transfer, and with it
    // the loop, waits for that thread until the name server responds or times out.
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
    curl_easy_setopt(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, 0L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "duewheel");
    if (!options.trusted_file.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, options.trusted_file.c_str());
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, &Parts::open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, transfer.get());
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, &Parts::before_sending);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, transfer.get());
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &Parts::on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer.get());
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &Parts::on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer.get());
    return transfer;
}

void WebhookClient::Parts::begin(std::unique_ptr<Transfer> transfer) {
    Transfer& self = *transfer;
    self.fields = fields_of(self.request);
    const auto timeout_ms = std::max<std::int64_t>(1, self.request.timeout.count());
    curl_easy_setopt(self.easy, CURLOPT_URL, self.request.url.text().c_str());
    curl_easy_setopt(self.easy, CURLOPT_POST, 1L);
    curl_easy_setopt(self.easy, CURLOPT_POSTFIELDS, self.request.body.data());
    curl_easy_setopt(self.easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(self.request.body.size()));
    curl_easy_setopt(self.easy, CURLOPT_HTTPHEADER, self.fields.get());
    curl_easy_setopt(self.easy, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout_ms));
    curl_easy_setopt(self.easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(timeout_ms));
    CURL* const easy = self.easy;
    transfers.emplace(easy, std::move(transfer));
    curl_multi_add_handle(multi, easy);
}

WebhookAnswer WebhookClient::Parts::answer_of(Transfer& transfer, CURLcode code) {
    WebhookAnswer answer;
    curl_off_t took_us = 0;
    curl_easy_getinfo(transfer.easy, CURLINFO_TOTAL_TIME_T, &took_us);
    answer.took_us = static_cast<std::uint64_t>(std::max<curl_off_t>(took_us, 0));
    long status = 0;
    curl_easy_getinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &status);
    if (!transfer.refused.empty() && code != CURLE_OK) {
        answer.kind = WebhookAnswer::Kind::forbidden;
        answer.text = std::move(transfer.refused);
        return answer;
    }
    answer.kind = transfer.is_cut ? WebhookAnswer::Kind::answered : kind_of(code);
    if (transfer.is_repeat) {
        answer.kind = WebhookAnswer::Kind::broken;
        answer.text = "The connection ended without a response.";
    } else if (answer.kind == WebhookAnswer::Kind::answered) {
        answer.status = static_cast<int>(status);
        answer.retry_after_s = retry_after_s(transfer.easy);
        answer.text = transfer.answer.beginning();
        answer.end = transfer.answer.end();
    } else {
        answer.text = transfer.error[0] != '\0' ? transfer.error.data() : curl_easy_strerror(code);
    }
    return answer;
}

void WebhookClient::Parts::end(CURL* easy, CURLcode code) {
    const auto found = transfers.find(easy);
    assert(found != transfers.end());
    std::unique_ptr<Transfer> transfer = std::move(found->second);
    transfers.erase(found);
    curl_multi_remove_handle(multi, easy);
    WebhookAnswer answer = answer_of(*transfer, code);
    const Done done = std::move(transfer->done);
    transfer->request = {};
    transfer->fields.reset();
    transfer->refused.clear();
    transfer->answer = TextEnds(kTextBytesMax);
    transfer->answer_bytes = transfer->header_bytes = 0;
    transfer->is_cut = transfer->was_sent = transfer->is_repeat = false;
    transfer->error[0] = '\0';
    if (spare.size() < kHandlesKept) spare.push_back(std::move(transfer));
    done(std::move(answer));
}

WebhookClient::WebhookClient(EventLoop& loop, Options options) {
    set_up_library();
    parts_ = std::make_shared<Parts>(loop, std::move(options));
    parts_->set_up();
}

WebhookClient::~WebhookClient() {
    parts_->give_up();
}

void WebhookClient::send(WebhookRequest request, Done done) {
    std::unique_ptr<Transfer> transfer = parts_->fresh();
    transfer->request = std::move(request);
    transfer->done = std::move(done);
    parts_->begin(std::move(transfer));
}

std::size_t WebhookClient::in_flight() const {
    return parts_->transfers.size();
}

}  // namespace duewheel

#include "transport.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string_view>
#include <utility>

#include <curl/curl.h>
#include <strings.h>

namespace duewheel::client {
namespace {

constexpr long kConnectTimeoutMs = 10'000;
constexpr long kKeptConnectionsMax = 100;
constexpr long kKeptForS = 50;
constexpr std::size_t kIdleHandlesMax = 100;
constexpr int kPollMs = 60'000;

// libcurl is initialized once in a process, before its first use, and never cleaned up: other code may use it too.
void initialize_curl() {
    static const CURLcode outcome = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (outcome != CURLE_OK) throw std::bad_alloc();
}

}  // namespace

struct Transport::Exchange {
    HttpRequest request;
    std::function<void(HttpResponse)> done;
    HttpResponse response{};
    CURL* handle = nullptr;
    curl_slist* fields = nullptr;
    bool head_ended = false;
    char failure[CURL_ERROR_SIZE] = "";

    ~Exchange() { curl_slist_free_all(fields); }

    void add_field(const std::string& field) {
        curl_slist* const longer = curl_slist_append(fields, field.c_str());
        if (longer == nullptr) throw std::bad_alloc();
        fields = longer;
    }

    static std::size_t take_header(char* data, std::size_t, std::size_t size, void* self) {
        static_cast<Exchange*>(self)->read_header(std::string_view(data, size));
        return size;
    }
    static std::size_t take_body(char* data, std::size_t, std::size_t size, void* self) {
        static_cast<Exchange*>(self)->response.body.append(data, size);
        return size;
    }

    void read_header(std::string_view line) {
        while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
        if (line.starts_with("HTTP/")) response = {};  // of the last head, if there are several
        head_ended = line.empty();
        const std::size_t colon = std::min(line.find(':'), line.size());
        const std::string name(line.substr(0, colon));
        line.remove_prefix(std::min(colon + 1, line.size()));
        line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
        const std::string value(line);
        if (strcasecmp(name.c_str(), "Content-Type") == 0) response.media_type = value;
        if (strcasecmp(name.c_str(), "Location") == 0) response.location = value;
        if (strcasecmp(name.c_str(), "Retry-After") == 0)
            response.retry_after = std::chrono::seconds(std::max(0, std::atoi(value.c_str())));
    }
};

Transport::Transport(std::string ca) : ca_(std::move(ca)), multi_((initialize_curl(), curl_multi_init())) {
    if (multi_ == nullptr) throw std::bad_alloc();
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, kKeptConnectionsMax);
    thread_ = std::thread([this] { run(); });
}

Transport::~Transport() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    curl_multi_wakeup(multi_);
    thread_.join();
    for (void* const handle : idle_) curl_easy_cleanup(handle);
    curl_multi_cleanup(multi_);
}

void Transport::post(std::function<void()> function) {
    {
        const std::lock_guard lock(mutex_);
        posted_.push_back(std::move(function));
    }
    curl_multi_wakeup(multi_);
}

void Transport::at(SteadyInstant due, std::function<void()> function) {
    timers_.emplace(due, std::move(function));
}

std::uint64_t Transport::send(HttpRequest request, std::function<void(HttpResponse)> done) {
    auto exchange = std::make_unique<Exchange>();
    exchange->request = std::move(request);
    exchange->done = std::move(done);
    CURL* handle = nullptr;
    if (idle_.empty()) {
        handle = curl_easy_init();
    } else {
        handle = idle_.back();
        idle_.pop_back();
        curl_easy_reset(handle);
    }
    if (handle == nullptr) throw std::bad_alloc();
    Exchange& sent = *exchange;
    sent.handle = handle;
    if (!sent.request.token.empty()) sent.add_field("Authorization: Bearer " + sent.request.token);
    sent.add_field("Content-Type:" + (sent.request.media_type.empty() ? "" : " " + sent.request.media_type));
    sent.add_field("Expect:");
    curl_easy_setopt(handle, CURLOPT_URL, sent.request.url.c_str());
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle, CURLOPT_PROXY, "");
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, kConnectTimeoutMs);
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, std::max<long>(1, static_cast<long>(sent.request.timeout.count())));
    curl_easy_setopt(handle, CURLOPT_MAXAGE_CONN, kKeptForS);
    if (!sent.request.media_type.empty() || sent.request.method == "POST") {
        curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(sent.request.body.size()));
        curl_easy_setopt(handle, CURLOPT_POSTFIELDS, sent.request.body.data());
    }
    curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, sent.request.method.c_str());
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, sent.fields);
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &Exchange::take_header);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, exchange.get());
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &Exchange::take_body);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, exchange.get());
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, sent.failure);
    if (!ca_.empty()) {
        curl_blob ca{const_cast<char*>(ca_.data()), ca_.size(), CURL_BLOB_NOCOPY};
        curl_easy_setopt(handle, CURLOPT_CAINFO_BLOB, &ca);
        curl_easy_setopt(handle, CURLOPT_CAPATH, nullptr);
    }
    const std::uint64_t number = ++last_number_;
    curl_easy_setopt(handle, CURLOPT_PRIVATE, reinterpret_cast<void*>(number));
    exchanges_.emplace(number, std::move(exchange));
    curl_multi_add_handle(multi_, handle);
    return number;
}

void Transport::abandon(std::uint64_t number) {
    const auto found = exchanges_.find(number);
    if (found == exchanges_.end()) return;
    CURL* const handle = found->second->handle;
    curl_multi_remove_handle(multi_, handle);
    if (idle_.size() < kIdleHandlesMax) {
        idle_.push_back(handle);
    } else {
        curl_easy_cleanup(handle);
    }
    exchanges_.erase(found);
}

void Transport::run() {
    const auto goes_on = [this] {
        const std::lock_guard lock(mutex_);
        return !stopping_;
    };
    while (goes_on()) {
        run_posted();
        run_due(std::chrono::steady_clock::now());
        int running = 0;
        curl_multi_perform(multi_, &running);
        read_ended();
        int wait_ms = kPollMs;
        if (!timers_.empty()) {
            const auto left = timers_.begin()->first - std::chrono::steady_clock::now();
            wait_ms = static_cast<int>(
                std::clamp<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(left).count(), 0, kPollMs));
        }
        curl_multi_poll(multi_, nullptr, 0, wait_ms, nullptr);
    }
    closing_ = true;
    end_all();
}

void Transport::end_all() {
    run_posted();
    run_due(SteadyInstant::max());
    while (!exchanges_.empty()) {
        const auto done = std::move(exchanges_.begin()->second->done);
        abandon(exchanges_.begin()->first);
        HttpResponse none;
        none.failure = "the client was destroyed";
        done(std::move(none));
    }
}

void Transport::run_posted() {
    std::vector<std::function<void()>> posted;
    {
        const std::lock_guard lock(mutex_);
        posted.swap(posted_);
    }
    for (const auto& function : posted) function();
}

void Transport::run_due(SteadyInstant now) {
    while (!timers_.empty() && timers_.begin()->first <= now) {
        const auto function = std::move(timers_.begin()->second);
        timers_.erase(timers_.begin());
        function();
    }
}

void Transport::read_ended() {
    int left = 0;
    while (const CURLMsg* const message = curl_multi_info_read(multi_, &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        void* number = nullptr;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &number);
        const CURLcode outcome = message->data.result;
        const auto found = exchanges_.find(reinterpret_cast<std::uint64_t>(number));
        if (found == exchanges_.end()) continue;
        Exchange& exchange = *found->second;
        HttpResponse response = std::move(exchange.response);
        if (outcome != CURLE_OK || !exchange.head_ended) {
            response = {};
            response.failure = exchange.failure[0] != '\0' ? exchange.failure
                               : outcome != CURLE_OK       ? curl_easy_strerror(outcome)
                                                           : "the head of the response is not whole";
            response.bad_certificate = outcome == CURLE_PEER_FAILED_VERIFICATION;
        } else {
            long status = 0;
            curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
            response.status = static_cast<int>(status);
        }
        const auto done = std::move(exchange.done);
        abandon(found->first);
        done(std::move(response));
    }
}

}  // namespace duewheel::client

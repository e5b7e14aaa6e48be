#include "core.h"

#include <algorithm>
#include <cstdio>
#include <random>
#include <utility>

#include <curl/curl.h>

#include "json_text.h"
#include "thread_pool.h"
#include "wire.h"

namespace duewheel::client {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

constexpr milliseconds kBackoffFirst{50};
constexpr milliseconds kBackoffMax{1000};
constexpr int kRedirectsMax = 5;
// The servers that this client understands: from the first version on, and before the second.
constexpr std::pair kVersionOldest{0, 1};
constexpr std::pair kVersionBefore{0, 2};

Error unavailable(std::string code, std::string detail) {
    return {.family = Family::unavailable, .code = std::move(code), .detail = std::move(detail)};
}

Family family_of(int status) {
    switch (status) {
        case 400:
        case 413:
        case 414:
        case 415:
            return Family::invalid;
        case 401:
        case 403:
            return Family::unauthorized;
        case 404:
        case 410:
            return Family::not_found;
        case 409:
            return Family::conflict;
        case 429:
            return Family::throttled;
        default:
            return Family::unavailable;
    }
}

struct Address {
    std::string scheme, origin, path;
};

// The parts of a URL of HTTP; nothing if it is none.
std::optional<Address> parse_url(const std::string& text) {
    const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> url(curl_url(), &curl_url_cleanup);
    if (url == nullptr || curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) return {};
    const auto part = [&url](CURLUPart which) {
        char* found = nullptr;
        if (curl_url_get(url.get(), which, &found, 0) != CURLUE_OK) return std::string();
        const std::unique_ptr<char, decltype(&curl_free)> owned(found, &curl_free);
        return std::string(found);
    };
    Address address{.scheme = part(CURLUPART_SCHEME), .origin = {}, .path = part(CURLUPART_PATH)};
    if (address.scheme != "http" && address.scheme != "https") return {};
    address.origin = address.scheme + "://" + part(CURLUPART_HOST);
    if (const std::string port = part(CURLUPART_PORT); !port.empty()) address.origin += ":" + port;
    if (const std::string query = part(CURLUPART_QUERY); !query.empty()) address.path += "?" + query;
    return address;
}

double random_part() {
    thread_local std::minstd_rand generator{std::random_device()()};
    return std::uniform_real_distribution<>(0.5, 1)(generator);
}

}  // namespace

std::optional<Error> problem_of(std::string_view json) {
    const auto text = [json](std::string_view name) { return unquoted(member_of(json, name)).value_or(""); };
    std::string code = text("code");
    if (code.empty()) return {};
    const int status = std::atoi(std::string(member_of(json, "status")).c_str());
    return Error{.family = family_of(status),
                 .code = std::move(code),
                 .detail = text("detail"),
                 .field = text("field"),
                 .outcome = text("outcome")};
}

// What one call does until it has an answer that another attempt does not improve, or until its deadline. All but its
// constructor runs on the thread of the network. It is shared by the closures that go on with it, one at a time.
class Attempts : public std::enable_shared_from_this<Attempts> {
  public:
    Attempts(Core& core, Request request, std::shared_ptr<detail::Pending> pending)
        : core_(core), request_(std::move(request)), pending_(std::move(pending)) {}

    void begin() {
        origin_ = core_.origin_;
        path_ = request_.path;
        began_ = std::chrono::steady_clock::now();
        deadline_ = began_ + request_.timeout.value_or(core_.options_.timeout) + request_.wait;
        backoff_ = kBackoffFirst;
        redirects_ = 0;
        attempt();
    }

    void cancel() {
        core_.transport_.abandon(exchange_);
        finish(unavailable(
            "cancelled", request_.method + " " + request_.path + " was cancelled; the server may have carried it out"));
    }

  private:
    void attempt() {
        if (finished_) return;
        if (!core_.is_checked_) {
            return send({.method = "GET", .url = core_.origin_ + "/readyz"}, &Attempts::received_version);
        }
        HttpRequest request{.method = request_.method, .url = origin_ + path_};
        if (request_.body) {
            request.body = request_.body(std::chrono::steady_clock::now() - began_);
            request.media_type = request_.media_type;
        }
        send(std::move(request), &Attempts::received);
    }

    void send(HttpRequest request, void (Attempts::*go_on)(HttpResponse)) {
        request.token = core_.options_.token;
        request.timeout = std::chrono::ceil<milliseconds>(deadline_ - std::chrono::steady_clock::now());
        exchange_ =
            core_.transport_.send(std::move(request), [self = shared_from_this(), go_on](HttpResponse response) {
                response.status == 0 ? self->lost(response) : (*self.*go_on)(std::move(response));
            });
    }

    void lost(const HttpResponse& response) {
        if (response.bad_certificate) {
            return finish(unavailable("bad_certificate", origin_ + ": " + response.failure));
        }
        const auto time = duration_cast<milliseconds>(deadline_ - began_);
        Error error = unavailable("deadline", "no response within " + std::to_string(time.count()) +
                                                  " ms; the last attempt: " + origin_ + ": " + response.failure);
        origin_ = core_.origin_;
        path_ = request_.path;
        repeat(std::move(error), {});
    }

    // An answer without a version is no obstacle: proxies may keep the page away.
    void received_version(HttpResponse response) {
        const std::string version = unquoted(member_of(response.body, "version")).value_or("");
        int major = 0;
        int minor = 0;
        const bool has_version = std::sscanf(version.c_str(), "%d.%d", &major, &minor) == 2;
        if (has_version && (std::pair(major, minor) < kVersionOldest || std::pair(major, minor) >= kVersionBefore)) {
            return finish(unavailable("unsupported_server", origin_ + " is a Duewheel server of version " + version +
                                                                ", and this client is for those from 0.1 and before "
                                                                "0.2: install the client of the server's version"));
        }
        core_.is_checked_ = true;
        attempt();
    }

    void received(HttpResponse response) {
        const int status = response.status;
        if (status == 307 && !response.location.empty()) return redirect(response.location);
        if (status < 300) {
            const bool is_json = response.media_type.starts_with("application/json") ||
                                 response.media_type.starts_with("application/x-ndjson");
            return is_json ? succeed(std::move(response.body)) : finish(not_duewheel(response));
        }
        std::optional<Error> refusal = problem_of(response.body);
        if (!refusal) return finish(not_duewheel(response));
        if (status == 429 || status == 503 || status == 507) return repeat(std::move(*refusal), response.retry_after);
        finish(std::move(*refusal));
    }

    void succeed(std::string body) {
        std::optional<Request> next = request_.next ? request_.next(body) : std::nullopt;
        if (!next || core_.transport_.closing()) return finish(std::move(body));
        request_ = std::move(*next);
        begin();
    }

    void redirect(const std::string& location) {
        const std::optional<Address> target = parse_url(location);
        const bool is_exposed =
            target && target->scheme == "http" && origin_.starts_with("https:");  // the token and the data
        if (!target || is_exposed || ++redirects_ > kRedirectsMax) {
            return finish(unavailable("too_many_redirects", origin_ + " redirects to " + location +
                                                                ", which is no address to follow, or one too many"));
        }
        origin_ = target->origin;
        path_ = target->path;
        attempt();
    }

    // Makes another attempt after the backoff, and at the earliest after `least`; or ends with the error if its time is
    // over.
    void repeat(Error error, Duration least) {
        const Duration pause = std::max(least, duration_cast<Duration>(backoff_ * random_part()));
        const auto now = std::chrono::steady_clock::now();
        if (now + pause > deadline_ || core_.transport_.closing()) return finish(std::move(error));
        backoff_ = std::min(2 * backoff_, kBackoffMax);
        core_.transport_.at(now + pause, [self = shared_from_this()] { self->attempt(); });
    }

    Error not_duewheel(const HttpResponse& response) const {
        return unavailable("not_duewheel", origin_ + " answered with status " + std::to_string(response.status) +
                                               " and `" + response.media_type +
                                               "`: check the URL, it is no Duewheel server");
    }

    void finish(detail::Pending::Answer answer) {
        finished_ = true;
        pending_->finish(std::move(answer));
    }

    Core& core_;
    Request request_;
    const std::shared_ptr<detail::Pending> pending_;
    std::string origin_;
    std::string path_;
    SteadyInstant began_{};
    SteadyInstant deadline_{};
    milliseconds backoff_{};
    int redirects_ = 0;
    std::uint64_t exchange_ = 0;
    bool finished_ = false;
};

Core::Core(const std::string& url, ClientOptions options) : options_(std::move(options)), transport_(options_.ca) {
    const auto refuse = [](std::string code, std::string detail, std::string field) {
        throw Failure({.family = Family::invalid,
                       .code = std::move(code),
                       .detail = std::move(detail),
                       .field = std::move(field)});
    };
    const std::optional<Address> address = parse_url(url);
    if (!address || url.find("://") == std::string::npos) {
        refuse("bad_url", "`" + url + "` is no URL of a server: write it as http://127.0.0.1:7420", "url");
    }
    if (!options_.ca.empty() && options_.ca.find("-----BEGIN CERTIFICATE-----") == std::string::npos) {
        refuse("bad_certificate", "there is no certificate in this PEM", "ca");
    }
    if (options_.token.find_first_of("\r\n") != std::string::npos)
        refuse("bad_token", "the token has a line break in it", "token");
    if (!options_.executor) {
        // Shared with the calls, which may end after the client.
        options_.executor = [pool = std::make_shared<ThreadPool>(1)](std::function<void()> function) {
            pool->post(std::move(function));
        };
    }
    origin_ = address->origin;
    base_ = options_.in_namespace.empty() ? "/v1" : "/v1/namespaces/" + segment(options_.in_namespace);
}

std::shared_ptr<detail::Pending> Core::send(Request request) {
    // Shared by the caller and the thread of the network, in any order of their ends.
    auto pending = std::make_shared<detail::Pending>();
    const auto attempts = std::make_shared<Attempts>(*this, std::move(request), pending);
    pending->cancel = [core = weak_from_this(), weak = std::weak_ptr(attempts)] {
        if (const auto alive = core.lock()) {
            alive->transport_.post([weak] {
                if (const auto call = weak.lock()) call->cancel();
            });
        }
    };
    pending->resume = options_.executor;
    transport_.post([attempts] { attempts->begin(); });
    return pending;
}

}  // namespace duewheel::client

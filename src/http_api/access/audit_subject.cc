#include "http_api/access/audit_subject.h"

#include "base/error_codes.h"
#include "http_api/calls/request_log.h"
#include "net/http/http_target.h"

namespace duewheel {
namespace {

std::string_view settings_verb(std::string_view method, std::string_view set, std::string_view remove) {
    if (method == "PUT" || method == "PATCH") return set;
    return method == "DELETE" ? remove : std::string_view();
}

std::string decoded(std::string_view raw) {
    Result<std::string> name = percent_decode(raw);
    return name ? *std::move(name) : std::string(raw);  // such a request is refused
}

}  // namespace

std::optional<AuditSubject> audit_subject(const CallPath& call, std::string_view method) {
    using What = CallPath::What;
    const std::string_view verb = audit_verb(call.what, method);
    if (verb.empty()) return std::nullopt;
    const bool is_of_server = call.what == What::token || call.what == What::rotate_token || is_page(call.what);
    std::string object = decoded(call.name);
    if (call.what == What::group) object.append("/groups/").append(decoded(call.inner_name));
    return AuditSubject{verb, is_of_server ? std::string() : decoded(call.name_space), std::move(object)};
}

AuditEntry audit_entry(const RequestNote& note, ErrorCode code, InstantMs now) {
    AuditEntry entry;
    entry.time_ms = now;
    entry.actor = note.token_id;
    if (entry.actor.empty()) entry.actor = note.certificate_name;
    if (entry.actor.empty()) entry.actor = kAnonymous;
    entry.address = note.remote_address;
    if (note.audit) {
        entry.verb = note.audit->verb;
        entry.name_space = note.audit->name_space;
        entry.object = note.audit->object;
    } else {
        entry.verb = kAccessRefusedVerb;
        entry.call = note.method + " " + path_to_log(note.received_path);
    }
    entry.outcome = code == ErrorCode::none ? kOutcomeOk : name_of(code);
    entry.traceparent = note.traceparent;
    return entry;
}

// Without a default, so that the compiler warns about a new call without a case here.
std::string_view audit_verb(CallPath::What what, std::string_view method) {
    using What = CallPath::What;
    switch (what) {
        case What::queue:
            return settings_verb(method, "queue.set", "queue.remove");
        case What::pause:
            return "queue.pause";
        case What::resume:
            return "queue.resume";
        case What::purge:
            return "queue.purge";
        case What::redrive:
            return "queue.redrive";
        case What::discard:
            return "queue.discard";
        case What::group:
            return settings_verb(method, "group.set", "group.remove");
        case What::schedule:
            return settings_verb(method, "schedule.set", "schedule.remove");
        case What::pause_schedule:
            return "schedule.pause";
        case What::resume_schedule:
            return "schedule.resume";
        case What::fire_schedule:
            return "schedule.fire";
        case What::watchdog:
            return settings_verb(method, "watchdog.set", "watchdog.remove");
        case What::name_space:
            return settings_verb(method, "namespace.set", "namespace.remove");
        case What::token:
            return settings_verb(method, "token.set", "token.remove");
        case What::rotate_token:
            return "token.rotate";
        case What::accept_clock:
            return "clock.accept";
        case What::advance_clock:
            return "clock.advance";
        case What::put:
        case What::put_batch:
        case What::lease:
        case What::message:
        case What::fire:
        case What::ack:
        case What::fail:
        case What::extend:
        case What::release:
        case What::hold:
        case What::kick:
        case What::discard_message:
        case What::hold_lease:
        case What::queues:
        case What::ack_batch:
        case What::fail_batch:
        case What::extend_batch:
        case What::release_batch:
        case What::history:
        case What::preview_schedule:
        case What::schedules:
        case What::commit:
        case What::roll_back:
        case What::feed_watchdog:
        case What::watchdogs:
        case What::name_spaces:
        case What::message_by_key:
        case What::forecast:
        case What::tokens:
        case What::groups:
        case What::back_off_group:
        case What::healthz:
        case What::readyz:
        case What::metrics:
        case What::stats:
        case What::events:
        case What::lateness:
        case What::wheel:
        case What::contract:
        case What::clock:
        case What::session:  // HttpApi records it, if its token is valid
        case What::dashboard:
        case What::asset:
        case What::docs:
            break;
    }
    return {};
}

}  // namespace duewheel

package duewheel;

import com.fasterxml.jackson.databind.JsonNode;

/** A call that had no success. There is a class for each family. */
public abstract sealed class DuewheelException extends RuntimeException {
    private final String code;
    private final String detail;
    private final String field;
    private final String outcome;

    private DuewheelException(String code, String detail, String field, String outcome, Throwable cause) {
        super(code + ": " + detail, cause);
        this.code = code;
        this.detail = detail;
        this.field = field;
        this.outcome = outcome;
    }

    /** A stable code, for programs: one of the server, or bad_url, bad_data, bad_certificate, deadline, interrupted, too_many_redirects,
     * not_duewheel, unsupported_server. */
    public String code() {
        return code;
    }

    /** What is wrong, and what to do. */
    public String detail() {
        return detail;
    }

    /** The member of the request that is at fault; null if there is none. */
    public String field() {
        return field;
    }

    /** What became of the message, if the call came too late; otherwise null. */
    public String outcome() {
        return outcome;
    }

    /** The request is wrong and stays wrong. */
    public static final class Invalid extends DuewheelException {
        Invalid(String code, String detail, String field, String outcome, Throwable cause) {
            super(code, detail, field, outcome, cause);
        }
    }

    /** The token is missing, invalid, or does not allow the call. */
    public static final class Unauthorized extends DuewheelException {
        Unauthorized(String code, String detail, String field, String outcome) {
            super(code, detail, field, outcome, null);
        }
    }

    /** There is no such message, queue, schedule or watchdog, or it ended longer ago than outcomes are kept. */
    public static final class NotFound extends DuewheelException {
        NotFound(String code, String detail, String field, String outcome) {
            super(code, detail, field, outcome, null);
        }
    }

    /** The call came too late or contradicts another one. */
    public static final class Conflict extends DuewheelException {
        Conflict(String code, String detail, String field, String outcome) {
            super(code, detail, field, outcome, null);
        }
    }

    /** A limit or a full queue, until the deadline of the call. */
    public static final class Throttled extends DuewheelException {
        Throttled(String code, String detail, String field, String outcome) {
            super(code, detail, field, outcome, null);
        }
    }

    /**
     * The server could not answer until the deadline of the call. Whether it carried the call out is not known if the code is "deadline" or
     * "interrupted". The same put with the same key can be repeated.
     */
    public static final class Unavailable extends DuewheelException {
        Unavailable(String code, String detail, String field, String outcome, Throwable cause) {
            super(code, detail, field, outcome, cause);
        }
    }

    static Unavailable unavailable(String code, String detail, Throwable cause) {
        return new Unavailable(code, detail, null, null, cause);
    }

    static Invalid badData(String detail, Throwable cause) {
        return new Invalid("bad_data", detail, "data", null, cause);
    }

    /** Whether the same call may have success later: when the server is back, has room, or knows the token again. */
    final boolean isForNow() {
        return this instanceof Unavailable || this instanceof Throttled || this instanceof Unauthorized;
    }

    /** The refusal that a response, or an item of the response to a batch, describes; null if it is none. */
    static DuewheelException of(JsonNode problem) {
        if (!problem.path("code").isTextual()) {
            return null;
        }
        String code = problem.get("code").asText();
        String detail = problem.path("detail").asText();
        String field = problem.path("field").asText(null);
        String outcome = problem.path("outcome").asText(null);
        return switch (problem.path("status").asInt()) {
            case 400, 413, 414, 415 -> new Invalid(code, detail, field, outcome, null);
            case 401, 403 -> new Unauthorized(code, detail, field, outcome);
            case 404, 410 -> new NotFound(code, detail, field, outcome);
            case 409 -> new Conflict(code, detail, field, outcome);
            case 429 -> new Throttled(code, detail, field, outcome);
            default -> new Unavailable(code, detail, field, outcome, null);
        };
    }
}

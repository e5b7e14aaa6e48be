package duewheel;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** No attempt will succeed: the message is a dead letter at once. {@code throw Dead.because("there is no such address")}. */
public final class Dead extends HandlerOutcome {
    private Dead(String reason, Throwable cause) {
        super(reason, cause);
    }

    public static Dead because(String reason) {
        return new Dead(reason, null);
    }

    public static Dead because(String reason, Throwable cause) {
        return new Dead(reason, cause);
    }

    @Override
    String verb() {
        return "fail";
    }

    @Override
    ObjectNode members(DuewheelClient client) {
        return client.failMembers(getMessage(), new FailOptions().dead(true));
    }
}

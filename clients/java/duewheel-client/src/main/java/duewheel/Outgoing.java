package duewheel;

/**
 * A message on its way to the server.
 *
 * @param traceparent the trace that it belongs to (W3C Trace Context); null: none
 */
public record Outgoing(Object data, Put put, String traceparent) {
    public Outgoing(Object data, Put put) {
        this(data, put, null);
    }
}

package duewheel.spring;

import duewheel.Put;

/**
 * A message as an application event: {@code publisher.publishEvent(new DuewheelEvent("mail", email))} puts it with the transaction that runs, as
 * {@link DuewheelTransactions#put} does.
 */
public record DuewheelEvent(String queue, Object data, Put put) {
    public DuewheelEvent(String queue, Object data) {
        this(queue, data, Put.now());
    }
}

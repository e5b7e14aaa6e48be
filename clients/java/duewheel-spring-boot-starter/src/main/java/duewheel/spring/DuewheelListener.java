package duewheel.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Makes a method of a bean handle the messages of a queue. Its parameter is the data; it may also have a {@link duewheel.Job} or a
 * {@link duewheel.Lease}. What it returns is the result of the message. A method that returns a {@link duewheel.Verdict} answers the checks of prepared
 * messages. What it throws ends the message as a handler of {@link duewheel.Worker} does. Texts may have placeholders, such as "${mail.queue}".
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface DuewheelListener {
    /** The queue. */
    String value();

    /** Only messages with this header "kind". */
    String kind() default "";

    /** How many messages of the queue are handled at once. */
    String concurrency() default "1";

    /** The length of the leases, such as "30s". */
    String lease() default "30s";
}

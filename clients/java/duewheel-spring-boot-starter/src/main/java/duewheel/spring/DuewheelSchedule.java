package duewheel.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Makes a method of a bean run at the times of a schedule, in one of all programs that declare it. The schedule is put by its name when the program
 * starts, and so is its queue. One of `cron` and `every` sets the times. Texts may have placeholders.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface DuewheelSchedule {
    /** The name. */
    String value();

    /** A cron expression. */
    String cron() default "";

    /** A fixed interval, such as "10m". */
    String every() default "";

    /** The time zone of the cron expression, such as "Europe/Oslo". */
    String zone() default "";
}

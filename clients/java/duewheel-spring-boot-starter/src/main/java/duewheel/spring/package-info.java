/** Duewheel in Spring Boot: listeners, schedules, health, metrics, and messages that are put with a transaction. */
package duewheel.spring;

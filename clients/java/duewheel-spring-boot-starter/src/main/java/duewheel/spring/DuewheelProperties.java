package duewheel.spring;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.core.io.Resource;

/**
 * The settings `duewheel.*`.
 *
 * @param url of the server
 * @param token an access token
 * @param namespace a namespace other than "default"
 * @param timeout the deadline of each call
 * @param ca the certificates, as PEM, of the authorities that are trusted; by default those of the Java runtime
 * @param worker what handles messages
 * @param transactions how messages are put with a transaction
 */
@ConfigurationProperties("duewheel")
public record DuewheelProperties(@DefaultValue("http://127.0.0.1:7420") String url, String token, String namespace, @DefaultValue("30s") Duration timeout,
    Resource ca, @DefaultValue Worker worker, @DefaultValue Transactions transactions) {
    /**
     * @param enabled whether listeners and schedules run in this program
     * @param name shown with the messages that it has
     * @param stopTimeout how long running listeners have to finish when the program ends
     */
    public record Worker(@DefaultValue("true") boolean enabled, String name, @DefaultValue("25s") Duration stopTimeout) {}

    /**
     * @param checkQueue where the server asks what became of a transaction
     * @param checkAfter how long it waits before it asks
     */
    public record Transactions(String checkQueue, @DefaultValue("1m") Duration checkAfter) {}
}

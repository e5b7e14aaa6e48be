package duewheel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class WireTest {
    record Email(String to, int copies, Instant written) {}

    private final Wire wire = new Wire(null, null);

    private ObjectNode message(Object data) {
        ObjectNode members = Wire.object();
        wire.setContent(members, data);
        return members;
    }

    private <T> T read(ObjectNode message, Class<T> type) {
        return wire.data(message, wire.typeOf(type));
    }

    private static ObjectNode parsed(String json) {
        return (ObjectNode) Wire.parsed(json.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void aRecordIsJsonAndBack() {
        var email = new Email("ann", 2, Instant.parse("2027-01-01T06:00:00Z"));
        ObjectNode sent = message(email);
        assertEquals("{\"json\":{\"to\":\"ann\",\"copies\":2,\"written\":\"2027-01-01T06:00:00Z\"}}", sent.toString());
        assertEquals(email, read(sent, Email.class));
    }

    @Test
    void textAndBytesStayWhatTheyAre() {
        assertEquals("grüß", read(message("grüß"), String.class));
        assertEquals("grüß", read(message("grüß"), Object.class));
        assertArrayEquals(new byte[] {0, -1}, read(message(new byte[] {0, -1}), byte[].class));
        assertArrayEquals("[1,2]".getBytes(StandardCharsets.UTF_8), read(message(List.of(1, 2)), byte[].class));
    }

    @Test
    void numbersStayExact() {
        ObjectNode sent = parsed("{\"json\":[12345678901234567890,0.10]}");
        assertEquals("[12345678901234567890,0.10]", new String(read(sent, byte[].class), StandardCharsets.UTF_8));
    }

    @Test
    void whatDoesNotFitIsRefusedAndNotBent() {
        for (String json : List.of("{\"json\":{\"copies\":1.5}}", "{\"json\":{\"copies\":\"2\"}}", "{\"json\":{\"copies\":99999999999}}", "{\"json\":[]}",
            "{\"body\":\"text\"}", "{\"id\":\"7\",\"state\":\"done\"}")) {
            var refused = assertThrows(DuewheelException.Invalid.class, () -> read(parsed(json), Email.class), json);
            assertEquals("bad_data", refused.code(), json);
        }
        assertThrows(DuewheelException.Invalid.class, () -> message("half a pair: \ud800"));
        assertThrows(DuewheelException.Invalid.class, () -> message(new Object()));
    }

    @Test
    void membersThatAreNewerThanTheTypeAreIgnored() {
        assertEquals(new Email("ann", 0, null), read(parsed("{\"json\":{\"to\":\"ann\",\"newer\":true}}"), Email.class));
    }

    @Test
    void durationsAndInstantsAreRoundedUpToMilliseconds() {
        assertEquals("1ms", Wire.text(Duration.ofNanos(1)));
        assertEquals("90000ms", Wire.text(Duration.ofSeconds(90)));
        assertEquals("2027-01-01T06:00:00.002Z", Wire.text(Instant.parse("2027-01-01T06:00:00.001000001Z")));
    }

    @Test
    void optionsAreNeverChanged() {
        Put usual = Put.in(Duration.ofMinutes(10)).header("kind", "welcome");
        Put keyed = usual.key("order 7").header("to", "ann").retry(new RetryRule().attempts(3).first(Duration.ofSeconds(1)));
        assertEquals("{\"delay\":\"600000ms\",\"headers\":{\"kind\":\"welcome\"}}", wire.members(usual).toString());
        assertEquals("{\"delay\":\"600000ms\",\"headers\":{\"kind\":\"welcome\",\"to\":\"ann\"},\"key\":\"order 7\",\"retry\":{\"attempts\":3,\"first\":\"1000ms\"}}",
            wire.members(keyed).toString());
        assertEquals(Put.now().key("a"), Put.now().key("a"));
    }

    @Test
    void aUrlThatIsNoneIsRefused() {
        for (String url : List.of("127.0.0.1:7420", "ftp://example.test", "http://", "", "http://a b")) {
            assertEquals("bad_url", assertThrows(DuewheelException.Invalid.class, () -> DuewheelClient.of(url), url).code());
        }
        assertThrows(DuewheelException.Invalid.class, () -> DuewheelClient.builder("https://127.0.0.1:1").ca("no PEM"));
    }

    @Test
    void anOutcomeIsFoundInsideOfAnotherException() {
        Dead dead = Dead.because("there is no such address");
        assertEquals(dead, HandlerOutcome.of(new IllegalStateException(new RuntimeException(dead))));
        assertTrue(HandlerOutcome.of(new IllegalStateException()) == null);
    }
}

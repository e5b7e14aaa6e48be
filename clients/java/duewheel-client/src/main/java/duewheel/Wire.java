package duewheel;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import java.io.IOException;
import java.lang.reflect.Type;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.stream.Collectors;

/** How values of Java and of the HTTP API become each other. */
final class Wire {
    private static final DateTimeFormatter INSTANT = DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);
    /** For the messages of the protocol, whose numbers stay exact. */
    private static final ObjectMapper PROTOCOL = JsonMapper.builder()
        .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
        .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
        .build();

    private static final int REASON_MAX = 4096;
    private static final String CODEC = "codec"; // the header

    private final ObjectMapper mapper;
    private final PayloadCodec codec;

    /** mapper: for data of the user; null for the usual one. codec: may be null. */
    Wire(ObjectMapper mapper, PayloadCodec codec) {
        this.mapper = mapper == null ? usualMapper() : mapper;
        this.codec = codec;
    }

    /** A mapper that knows java.time, ignores unknown members, and turns nothing silently into something else. */
    private static ObjectMapper usualMapper() {
        return JsonMapper.builder()
            .addModule(new JavaTimeModule())
            .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS, SerializationFeature.WRITE_DURATIONS_AS_TIMESTAMPS)
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, DeserializationFeature.ACCEPT_FLOAT_AS_INT)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
            .build();
    }

    JavaType typeOf(Type type) {
        return mapper.constructType(type);
    }

    static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    /** null if it is no JSON. */
    static JsonNode parsed(byte[] text) {
        try {
            JsonNode found = PROTOCOL.readTree(text);
            return found == null || found.isMissingNode() ? null : found;
        } catch (IOException error) {
            return null;
        }
    }

    static byte[] bytes(JsonNode value) {
        try {
            return PROTOCOL.writeValueAsBytes(value);
        } catch (JsonProcessingException error) {
            throw DuewheelException.badData("the call cannot be written as JSON: " + error.getOriginalMessage(), error);
        }
    }

    /** The members of options; durations and instants become text. */
    ObjectNode members(Options<?> options) {
        ObjectNode all = object();
        options.members().forEach((name, value) -> all.set(name, member(value)));
        return all;
    }

    JsonNode member(Object value) {
        if (value instanceof Duration duration) {
            return JsonNodeFactory.instance.textNode(text(duration));
        }
        if (value instanceof Instant instant) {
            return JsonNodeFactory.instance.textNode(text(instant));
        }
        return value instanceof Options<?> options ? members(options) : json(value);
    }

    /** A value of the user as JSON, by the rules of the mapper. */
    JsonNode json(Object value) {
        if (value instanceof JsonNode node) {
            return node;
        }
        try {
            JsonNode made = mapper.valueToTree(value);
            return made == null ? JsonNodeFactory.instance.nullNode() : made;
        } catch (IllegalArgumentException error) {
            throw DuewheelException.badData("the value cannot be written as JSON: " + error.getMessage(), error);
        }
    }

    /** Adds the data of a message to the members of a call: a String as text, a byte[] as bytes, anything else as JSON. */
    void setContent(ObjectNode members, Object data) {
        if (codec != null) {
            seal(members, data);
        } else if (data instanceof byte[] given) {
            members.put("body_base64", given);
        } else if (data instanceof String text) {
            utf8(text);
            members.put("body", text);
        } else {
            members.set("json", json(data));
        }
    }

    private void seal(ObjectNode members, Object data) {
        byte[] plain = data instanceof byte[] given ? given : data instanceof String text ? utf8(text) : bytes(json(data));
        String kind = data instanceof byte[] ? "bytes" : data instanceof String ? "text" : "json";
        try {
            members.put("body_base64", codec.encode(plain));
        } catch (Exception error) {
            throw DuewheelException.badData("the data cannot be encoded by the codec `" + codec.name() + "`: " + error.getMessage(), error);
        }
        members.withObjectProperty("headers").put(CODEC, codec.name() + "/" + kind);
    }

    /** The content of a message, decoded if a codec has encoded it. */
    private JsonNode opened(JsonNode raw) throws Exception {
        String header = raw.path("headers").path(CODEC).asText(null);
        JsonNode body = raw.get("body");
        if (header == null || (body == null && !raw.has("body_base64") && !raw.has("json"))) {
            return raw;
        }
        String name = header.substring(0, Math.max(0, header.lastIndexOf('/')));
        if (codec == null || !codec.name().equals(name)) {
            throw new IOException("it was encoded by the codec `" + name + "`, and this client has " + (codec == null ? "none" : "`" + codec.name() + "`"));
        }
        if (raw.has("json")) {
            throw new IOException("it is JSON, which no codec returns");
        }
        byte[] data = codec.decode(body == null ? raw.get("body_base64").binaryValue() : body.asText().getBytes(StandardCharsets.UTF_8));
        return switch (header.substring(name.length())) {
            case "/bytes" -> object().put("body_base64", data);
            case "/text" -> object().put("body", StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(data)).toString());
            case "/json" -> object().set("json", PROTOCOL.readTree(data));
            default -> throw new IOException("what it has inside is neither text nor bytes nor JSON");
        };
    }

    private static byte[] utf8(String text) {
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
            throw DuewheelException.badData("the text has half of a surrogate pair, which UTF-8 cannot hold: put it as byte[]", null);
        }
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** The data of a message. */
    @SuppressWarnings("unchecked") // the type is that of the caller
    <T> T data(JsonNode raw, JavaType type) {
        JsonNode content;
        try {
            content = opened(raw);
        } catch (Exception error) {
            throw DuewheelException.badData("the content of message " + raw.path("id").asText() + " cannot be decoded: " + error.getMessage(), error);
        }
        JsonNode json = content.get("json");
        JsonNode body = content.get("body");
        if (json == null && body == null && !content.has("body_base64")) {
            throw DuewheelException.badData("the server has the content of this message no longer", null);
        }
        try {
            return (T) converted(json, body, content, type);
        } catch (IOException | IllegalArgumentException error) {
            String reason = error instanceof JsonProcessingException why ? why.getOriginalMessage() : error.getMessage();
            throw DuewheelException.badData("the data does not fit its type " + type.toCanonical() + ": " + reason, error);
        }
    }

    private Object converted(JsonNode json, JsonNode body, JsonNode content, JavaType type) throws IOException {
        Class<?> wanted = type.getRawClass();
        if (json != null) {
            return wanted == byte[].class ? bytes(json) : wanted == Object.class ? json : mapper.readValue(mapper.treeAsTokens(json), type);
        }
        byte[] bytes = body == null ? content.get("body_base64").binaryValue() : body.asText().getBytes(StandardCharsets.UTF_8);
        if (wanted == byte[].class) {
            return bytes;
        }
        if (wanted == String.class) {
            return new String(bytes, StandardCharsets.UTF_8);
        }
        if (wanted == Object.class) {
            return body == null ? bytes : body.asText();
        }
        throw new IOException("it was put as text or bytes, which are a String or a byte[]");
    }

    /** Text that the server accepts as a reason: it keeps 4 KiB of it, and more must not make the request too large. */
    static String reason(String text) {
        String cut = text.length() <= 2 * REASON_MAX ? text : text.substring(0, REASON_MAX) + text.substring(text.length() - REASON_MAX);
        return new String(cut.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8); // without halves of surrogate pairs
    }

    /** Whole milliseconds, rounded up: nothing is early. */
    static String text(Duration duration) {
        long ms = duration.toMillis();
        return (duration.minusMillis(ms).isZero() || duration.isNegative() ? ms : ms + 1) + "ms";
    }

    static String text(Instant instant) {
        Instant cut = instant.truncatedTo(ChronoUnit.MILLIS);
        return INSTANT.format(cut.isBefore(instant) ? cut.plusMillis(1) : cut);
    }

    /** A name as one part of a path, or of a query. */
    static String segment(String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    }

    static String query(Map<String, String> parameters) {
        return parameters.isEmpty() ? "" : parameters.entrySet().stream().map(each -> each.getKey() + "=" + segment(each.getValue()))
            .collect(Collectors.joining("&", "?", ""));
    }
}

package duewheel;

/**
 * Changes the bytes of payloads on their way out and in: encryption, or compression. An encoded message has the header "codec", the name of the
 * codec and what is inside: "aes-2027/json", "aes-2027/text" or "aes-2027/bytes", as in the clients of all languages. Messages without the header
 * are read as they are. The methods are called by several threads. If {@code encode} does not return the same bytes for the same data, then the same
 * put with the same key of the caller is a conflict.
 */
public interface PayloadCodec {
    /** Stays with the messages: change it when old messages cannot be decoded any more. */
    String name();

    byte[] encode(byte[] data) throws Exception;

    /** Undoes {@code encode}. What it throws fails the attempt of a handler. */
    byte[] decode(byte[] data) throws Exception;
}

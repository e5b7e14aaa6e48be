package duewheel;

/**
 * What became of one item of a batch: one of both is null.
 *
 * @param value the answer
 * @param failure why the server refused this one
 */
public record Result<T>(T value, DuewheelException failure) {
    /** The answer; throws the failure if there is one. */
    public T get() {
        if (failure != null) {
            throw failure;
        }
        return value;
    }

    public boolean isOk() {
        return failure == null;
    }
}

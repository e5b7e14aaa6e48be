package duewheel;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Handles SIGTERM and SIGINT until it is restored. The class that can do so is not part of the standard, so it is found at run time; without it a
 * shutdown hook does the same, which hears only the first signal.
 */
final class Signals {
    private static final System.Logger LOG = System.getLogger("duewheel");

    private final Map<Object, Object> before = new LinkedHashMap<>(); // by signal
    private Thread hook;

    /**
     * @param onSignal called for each signal
     * @param finish waits until the program may end; called at the end of a program without signals
     */
    Signals(Runnable onSignal, Runnable finish) {
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            InvocationHandler called = (proxy, method, arguments) -> switch (method.getName()) {
                case "handle" -> {
                    onSignal.run();
                    yield null;
                }
                case "equals" -> proxy == arguments[0];
                case "hashCode" -> System.identityHashCode(proxy);
                default -> "duewheel";
            };
            Object proxy = Proxy.newProxyInstance(handler.getClassLoader(), new Class<?>[] {handler}, called);
            for (String name : new String[] {"TERM", "INT"}) {
                Object each = signal.getConstructor(String.class).newInstance(name);
                before.put(each, signal.getMethod("handle", signal, handler).invoke(null, each, proxy));
            }
        } catch (ReflectiveOperationException | IllegalArgumentException none) {
            hook = new Thread(() -> {
                onSignal.run();
                finish.run();
            }, "duewheel-stop");
            Runtime.getRuntime().addShutdownHook(hook);
        }
    }

    /** Gives the signals back to whom they had. */
    void restore() {
        try {
            for (var each : before.entrySet()) {
                Class<?> signal = each.getKey().getClass();
                signal.getMethod("handle", signal, Class.forName("sun.misc.SignalHandler")).invoke(null, each.getKey(), each.getValue());
            }
            if (hook != null) {
                Runtime.getRuntime().removeShutdownHook(hook);
            }
        } catch (ReflectiveOperationException | IllegalStateException error) {
            LOG.log(System.Logger.Level.DEBUG, "the handlers of signals were not restored", error);
        }
    }
}

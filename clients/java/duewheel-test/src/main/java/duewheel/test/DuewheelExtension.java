package duewheel.test;

import duewheel.DuewheelClient;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Gives each test a server of its own: {@code @ExtendWith(DuewheelExtension.class)}, and a parameter {@link DuewheelServer} or a client of it. */
public final class DuewheelExtension implements ParameterResolver, AfterEachCallback {
    private static final ExtensionContext.Namespace PLACE = ExtensionContext.Namespace.create(DuewheelExtension.class);

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return type == DuewheelServer.class || type == DuewheelClient.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        DuewheelServer server = context.getStore(PLACE).get(DuewheelServer.class, DuewheelServer.class);
        if (server == null) {
            server = DuewheelServer.start();
            context.getStore(PLACE).put(DuewheelServer.class, server);
        }
        return parameter.getParameter().getType() == DuewheelServer.class ? server : server.client();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        DuewheelServer server = context.getStore(PLACE).remove(DuewheelServer.class, DuewheelServer.class);
        if (server != null) {
            server.close();
        }
    }
}

package duewheel.spring;

import com.fasterxml.jackson.core.type.TypeReference;
import duewheel.DuewheelClient;
import duewheel.Handling;
import duewheel.Job;
import duewheel.Lease;
import duewheel.MessageQueue;
import duewheel.ScheduleSettings;
import duewheel.Verdict;
import duewheel.Worker;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.context.EmbeddedValueResolverAware;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.StringValueResolver;

/** Finds the annotated methods of beans, and works on their messages while the program runs. */
public final class DuewheelWorkers implements BeanPostProcessor, EmbeddedValueResolverAware, SmartLifecycle {
    private final ObjectProvider<DuewheelClient> client;
    private final ObjectProvider<DuewheelProperties> properties;
    private final List<BiConsumer<DuewheelClient, Worker.Builder>> found = new ArrayList<>();
    private StringValueResolver resolver = text -> text;
    private volatile Worker worker;

    DuewheelWorkers(ObjectProvider<DuewheelClient> client, ObjectProvider<DuewheelProperties> properties) {
        this.client = client;
        this.properties = properties;
    }

    @Override
    public void setEmbeddedValueResolver(StringValueResolver resolver) {
        this.resolver = resolver;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
        Class<?> type = AopUtils.getTargetClass(bean);
        MethodIntrospector.selectMethods(type, (Method method) -> AnnotatedElementUtils.findMergedAnnotation(method, DuewheelListener.class))
            .forEach((method, listener) -> found.add((client, builder) -> listen(client, builder, bean, method, listener)));
        MethodIntrospector.selectMethods(type, (Method method) -> AnnotatedElementUtils.findMergedAnnotation(method, DuewheelSchedule.class))
            .forEach((method, schedule) -> found.add((client, builder) -> schedule(builder, bean, method, schedule)));
        return bean;
    }

    private String resolved(String text) {
        String value = resolver.resolveStringValue(text);
        return value == null ? "" : value;
    }

    private void listen(DuewheelClient client, Worker.Builder builder, Object bean, Method found, DuewheelListener listener) {
        Method method = AopUtils.selectInvocableMethod(found, bean.getClass());
        var type = new TypeReference<Object>() {
            @Override
            public Type getType() {
                return dataOf(found);
            }
        };
        MessageQueue<Object> queue = client.queue(resolved(listener.value()), type);
        String kind = resolved(listener.kind());
        queue = kind.isEmpty() ? queue : queue.kind(kind);
        Handling handling = Handling.concurrency(Integer.parseInt(resolved(listener.concurrency()))).lease(DurationStyle.detectAndParse(resolved(listener.lease())));
        if (method.getReturnType() == Verdict.class) {
            builder.checker(queue, job -> (Verdict) call(bean, method, arguments(method, job)));
        } else {
            builder.handleResult(queue, job -> call(bean, method, arguments(method, job)), handling);
        }
    }

    /** The type of the parameter that gets the data. */
    private static Type dataOf(Method method) {
        Type data = null;
        for (int i = 0; i < method.getParameterCount(); ++i) {
            Class<?> type = method.getParameterTypes()[i];
            if (type != Job.class && type != Lease.class) {
                if (data != null) {
                    throw new IllegalStateException("the listener " + method + " has two parameters for the data of a message, and may have one");
                }
                data = method.getGenericParameterTypes()[i];
            }
        }
        return data == null ? Object.class : data;
    }

    private static Object[] arguments(Method method, Job<?> job) {
        var all = new Object[method.getParameterCount()];
        for (int i = 0; i < all.length; ++i) {
            Class<?> type = method.getParameterTypes()[i];
            all[i] = type == Job.class ? job : type == Lease.class ? job.lease() : job.data();
        }
        return all;
    }

    private static Object call(Object bean, Method method, Object... arguments) throws Exception {
        try {
            method.setAccessible(true);
            return method.invoke(bean, arguments);
        } catch (InvocationTargetException thrown) {
            if (thrown.getCause() instanceof Error error) {
                throw error;
            }
            throw (Exception) thrown.getCause();
        }
    }

    private void schedule(Worker.Builder builder, Object bean, Method found, DuewheelSchedule schedule) {
        Method method = AopUtils.selectInvocableMethod(found, bean.getClass());
        String cron = resolved(schedule.cron());
        String every = resolved(schedule.every());
        String zone = resolved(schedule.zone());
        if (method.getParameterCount() > 0 || cron.isEmpty() == every.isEmpty()) {
            throw new IllegalStateException("the schedule " + method + " needs a method without parameters, and either cron or every");
        }
        var settings = cron.isEmpty() ? new ScheduleSettings().every(DurationStyle.detectAndParse(every)) : new ScheduleSettings().cron(cron);
        builder.schedule(resolved(schedule.value()), zone.isEmpty() ? settings : settings.zone(zone), () -> call(bean, method));
    }

    @Override
    public void start() {
        DuewheelProperties.Worker settings = properties.getObject().worker();
        if (found.isEmpty() || !settings.enabled()) {
            return;
        }
        DuewheelClient used = client.getObject();
        Worker.Builder builder = Worker.builder(used).stopTimeout(settings.stopTimeout());
        if (settings.name() != null) {
            builder.name(settings.name());
        }
        found.forEach(each -> each.accept(used, builder));
        Worker built = builder.build();
        built.start();
        worker = built;
    }

    @Override
    public void stop() {
        Worker running = worker;
        if (running != null) {
            running.close();
            worker = null;
        }
    }

    @Override
    public boolean isRunning() {
        return worker != null;
    }

    /** How many listeners and schedules run at this moment. */
    public int busy() {
        Worker running = worker;
        return running == null ? 0 : running.busy();
    }
}

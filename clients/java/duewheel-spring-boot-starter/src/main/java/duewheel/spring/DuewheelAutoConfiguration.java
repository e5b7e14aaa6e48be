package duewheel.spring;

import duewheel.DuewheelClient;
import duewheel.Middleware;
import duewheel.PayloadCodec;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** The beans of the starter. A bean of the program of type {@link Middleware} or {@link PayloadCodec} is used by the client. */
@AutoConfiguration(afterName = "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration")
@EnableConfigurationProperties(DuewheelProperties.class)
public class DuewheelAutoConfiguration {
    @Bean
    @ConditionalOnMissingBean
    DuewheelClient duewheelClient(DuewheelProperties properties, ObjectProvider<Middleware> middleware, ObjectProvider<PayloadCodec> codec) throws IOException {
        var builder = DuewheelClient.builder(properties.url()).token(properties.token()).namespace(properties.namespace()).timeout(properties.timeout())
            .codec(codec.getIfAvailable());
        if (properties.ca() != null) {
            builder.ca(properties.ca().getContentAsString(StandardCharsets.UTF_8));
        }
        middleware.orderedStream().forEach(builder::middleware);
        return builder.build();
    }

    @Bean
    static DuewheelWorkers duewheelWorkers(ObjectProvider<DuewheelClient> client, ObjectProvider<DuewheelProperties> properties) {
        return new DuewheelWorkers(client, properties);
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(TransactionSynchronizationManager.class)
    static class InTransactions {
        @Bean
        DuewheelTransactions duewheelTransactions(DuewheelClient client, DuewheelProperties properties) {
            return new DuewheelTransactions(client, properties.transactions());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterRegistry.class)
    static class Measured {
        @Bean
        @ConditionalOnBean(MeterRegistry.class)
        DuewheelMetrics duewheelMetrics(MeterRegistry registry) {
            return new DuewheelMetrics(registry);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
    static class Healthy {
        @Bean
        @ConditionalOnEnabledHealthIndicator("duewheel")
        DuewheelHealthIndicator duewheelHealthIndicator(DuewheelClient client, DuewheelWorkers workers) {
            return new DuewheelHealthIndicator(client, workers);
        }
    }
}

/**
 * Middleware for OpenTelemetry: a span for each put, a span for each handler that is linked to it, also in another process and days
 * later, and metrics of workers. The package depends on nothing; give it the module.
 *
 *     import * as api from '@opentelemetry/api'
 *     const client = new Duewheel({ url, middleware: [openTelemetry(api)] })
 */

import type { Middleware } from './middleware.js'
import { Dead, Retry, Snooze } from './outcomes.js'

type Attributes = Record<string, string | number | boolean>

interface Span {
  setAttribute(name: string, value: string): unknown
  setStatus(status: { code: number; message?: string }): unknown
  recordException(error: Error): void
  end(): void
}

/** The parts of @opentelemetry/api that are used. */
export interface OpenTelemetryApi<Context, SpanContext, S extends Span> {
  ROOT_CONTEXT: Context
  context: { active(): Context; with<R>(context: Context, run: () => R): R }
  trace: {
    getTracer(name: string): { startSpan(name: string, options: { kind: number; attributes: Attributes; links?: { context: SpanContext }[] }, context?: Context): S }
    setSpan(context: Context, span: S): Context
    getSpanContext(context: Context): SpanContext | undefined
  }
  propagation: { inject(context: Context, carrier: unknown): void; extract(context: Context, carrier: unknown): Context }
  metrics: {
    getMeter(name: string): {
      createHistogram(name: string, options: { unit: string; description: string }): { record(value: number, attributes: Attributes): void }
      createUpDownCounter(name: string, options: { unit: string; description: string }): { add(value: number, attributes: Attributes): void }
    }
  }
}

const NAME = 'duewheel'
const PRODUCER = 3 // of SpanKind
const CONSUMER = 4
const ERROR = 2 // of SpanStatusCode

/** What the handler threw, as the outcome of its message. */
function outcomeOf(thrown: unknown): string {
  return thrown instanceof Retry ? 'retry' : thrown instanceof Snooze ? 'snooze' : thrown instanceof Dead ? 'dead' : 'failed'
}

export function openTelemetry<Context, SpanContext, S extends Span>(api: OpenTelemetryApi<Context, SpanContext, S>): Middleware {
  const tracer = api.trace.getTracer(NAME)
  const meter = api.metrics.getMeter(NAME)
  const busy = meter.createUpDownCounter('duewheel.worker.busy', { unit: '{message}', description: 'Messages that handlers work on' })
  const lateness = meter.createHistogram('duewheel.worker.lateness', { unit: 's', description: 'How late the server delivered messages' })
  const duration = meter.createHistogram('messaging.process.duration', { unit: 's', description: 'How long handlers worked' })

  /** Runs with the span as the active one, and ends it. `isError` says whether what was thrown is one. */
  async function within<R>(span: S, run: () => Promise<R>, isError: (thrown: unknown) => boolean): Promise<R> {
    try {
      return await api.context.with(api.trace.setSpan(api.context.active(), span), run)
    } catch (thrown) {
      if (isError(thrown)) {
        if (thrown instanceof Error) span.recordException(thrown)
        span.setStatus({ code: ERROR, message: String(thrown) })
      }
      throw thrown
    } finally {
      span.end()
    }
  }

  return {
    put(put, next) {
      const span = tracer.startSpan(`send ${put.queue}`, { kind: PRODUCER, attributes: attributesOf('send', put.queue) })
      return within(span, async () => {
        const carrier: { traceparent?: string } = {}
        api.propagation.inject(api.trace.setSpan(api.context.active(), span), carrier)
        const { traceparent } = carrier
        const receipt = await next(traceparent === undefined ? put : { ...put, options: { traceparent, ...put.options } })
        span.setAttribute('messaging.message.id', receipt.id)
        return receipt
      }, () => true)
    },

    async handle(context, data, next) {
      const { queue, traceparent } = context.lease
      const attributes = { ...attributesOf('process', queue), 'messaging.message.id': context.id, 'duewheel.attempt': context.attempt }
      const put = traceparent === undefined ? undefined : api.trace.getSpanContext(api.propagation.extract(api.ROOT_CONTEXT, { traceparent }))
      const span = tracer.startSpan(`process ${queue}`, { kind: CONSUMER, attributes, links: put ? [{ context: put }] : [] }, api.ROOT_CONTEXT)
      const beganMs = performance.now()
      const measured = { 'messaging.destination.name': queue }
      let outcome = 'done'
      busy.add(1, measured)
      lateness.record(context.latenessMs / 1000, measured)
      try {
        return await within(span, () => next(data), (thrown) => ['failed', 'dead'].includes(outcomeOf(thrown)))
      } catch (thrown) {
        outcome = outcomeOf(thrown)
        throw thrown
      } finally {
        busy.add(-1, measured)
        duration.record((performance.now() - beganMs) / 1000, { ...measured, 'duewheel.outcome': outcome })
      }
    },
  }
}

function attributesOf(operation: string, queue: string): Attributes {
  return { 'messaging.system': NAME, 'messaging.operation.type': operation, 'messaging.destination.name': queue }
}

/**
 * Workers: functions that handle the messages of a queue, with heartbeats, retries and an orderly stop.
 *
 *     const mail = client.queue<Email>('mail')
 *     await new Worker(mail, async (email, ctx) => deliver(email, { signal: ctx.signal }), { concurrency: 5 }).run()
 *
 * A handler that returns has done its message, and what it returns is the result. Retry, Snooze and Dead say something else, and
 * anything else that it throws fails the attempt, so that the server's retry rule decides.
 */

import process from 'node:process'
import { clearTimeout, setTimeout, type Timer } from 'node:timers'

import { Acks } from './acks.js'
import type { FailOptions } from './client.js'
import { Job, type Context } from './context.js'
import { Conflict, InvalidRequest, isFinal } from './errors.js'
import { Heart } from './heart.js'
import { LEVELS_MAX, encode } from './json.js'
import type { Lease } from './messages.js'
import { aroundHandler } from './middleware.js'
import type { ScheduleSettings } from './named.js'
import { Dead, Retry, Snooze, reasonOf, shortened } from './outcomes.js'
import type { Queue } from './queue.js'
import { checked } from './schema.js'
import { pause } from './transport.js'
import { Unreported } from './unreported.js'
import { milliseconds, type Duration } from './wire.js'

export type Handler<T, R = unknown> = (data: T, context: Context<T>) => R | Promise<R>
/** One function, or one for each `kind` of message. */
export type Handlers<T, R = unknown> = Handler<T, R> | { [kind: string]: Handler<T, R> }

export interface WorkerOptions {
  /** How many messages are handled at once, 1 by default. */
  concurrency?: number
  /** How long a lease lasts, "30s" by default. It is extended at each third of this while the handler works. */
  lease?: Duration
  /** What the dashboard and the timeline of a message show. */
  name?: string
  /** How long a handler may take. Then it is cancelled; if it does not return within a second, the attempt fails without it. No bound by default. */
  timeout?: Duration
  /** How long running handlers have to finish after stop() or SIGTERM, "25s" by default. */
  stopTimeout?: Duration
  /** How long the server waits for a message before the worker leases again, "20s" by default. */
  wait?: Duration
  /** The number of messages to wait for, 1 by default: the server answers when so many are due, or after `wait` with those that are. */
  min?: number
  /** Where warnings go, by default to console.warn. */
  log?: (text: string, error?: unknown) => void
}

const ERROR_PAUSE_MS = 1000 // after a call that failed
const GRACE_MS = 1000 // how long handlers have to notice their cancel
const LEASE_MAX = 1000
const RESULT_LEVELS_MAX = LEVELS_MAX - 3 // the request, its list of leases and the object of one are the others
const UNACKED_MAX = 1000 // messages whose handler has returned and whose ack has no response yet

export class Worker<T = unknown, R = unknown> {
  private readonly jobs = new Set<Job<T>>() // whose lease is not ended yet
  private running = 0 // handlers
  private readonly heart: Heart
  private readonly acks: Acks
  private readonly polls = new AbortController() // aborted by a stop
  private readonly over = new AbortController() // aborted at the end of a stop, when outcomes are reported no longer
  private hurry = false // whether a stop waits no longer
  private readonly schedules: [string, ScheduleSettings][] = []
  private readonly leaseMs: number
  private readonly log: (text: string, error?: unknown) => void
  private readonly unreported: Unreported
  private changed: () => void = () => undefined // wakes those who wait for a change of jobs or running
  private change = new Promise<void>((resolve) => (this.changed = resolve))
  private polling: Promise<void> | undefined
  private pausing: Promise<void> | undefined
  private stopped: Promise<void> | undefined

  constructor(readonly queue: Queue<T>, private readonly handlers: Handlers<T, R>, private readonly options: WorkerOptions = {}) {
    this.leaseMs = milliseconds(options.lease ?? '30s', 'lease')
    for (const name of ['timeout', 'stopTimeout', 'wait'] as const) milliseconds(options[name] ?? '0s', name)
    const { concurrency = 1 } = options
    if (!Number.isInteger(concurrency) || concurrency < 1) {
      throw new InvalidRequest('out_of_range', `\`concurrency\` is ${concurrency}: give a whole number of 1 or more`, 'concurrency')
    }
    const log = options.log ?? ((text, error) => console.warn(`duewheel: ${text}`, ...(error === undefined ? [] : [error])))
    this.log = (text, error) => {
      try {
        log(text, error)
      } catch { // such as an error whose stack has no text
        console.warn(`duewheel: ${text}`)
      }
    }
    this.unreported = new Unreported(this.log)
    this.heart = Heart.of(queue.client)
    this.acks = new Acks(queue.client)
  }

  /** Declares a schedule whose messages go to the queue of the worker. It is put at each start, which changes nothing if it is the same. */
  schedule(name: string, settings: Omit<ScheduleSettings, 'queue'>): this {
    this.schedules.push([name, { ...settings, queue: this.queue.name }])
    return this
  }

  /** Works until SIGTERM or SIGINT, and then stops in order; a second signal stops at once. */
  async run(): Promise<void> {
    const onSignal = (): void => {
      if (this.stopped) {
        this.hurry = true
        this.notify()
      } else {
        void this.stop()
      }
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
    try {
      if (!this.polling) await this.start()
      await this.polling
      await this.stopped
    } finally {
      process.off('SIGTERM', onSignal)
      process.off('SIGINT', onSignal)
    }
  }

  /** Puts its schedules, begins to work, and returns. */
  async start(): Promise<void> {
    if (this.polling || this.stopped) throw new Error('this worker was started or stopped before: make another one')
    for (const [name, settings] of this.schedules) await this.queue.client.schedules.set(name, settings)
    await this.heart.begin(this.log)
    if (this.polls.signal.aborted) this.heart.end() // stopped meanwhile
    else this.polling = this.poll()
  }

  /** Leases no more, waits for running handlers, cancels those that are late, and releases what is left: their attempts do not count.
   * Ends when this worker holds no message any more. */
  stop(options: { timeout?: Duration } = {}): Promise<void> {
    return (this.stopped ??= this.finish(milliseconds(options.timeout ?? this.options.stopTimeout ?? '25s', 'timeout')))
  }

  private notify(): void {
    this.changed()
    this.change = new Promise((resolve) => (this.changed = resolve))
  }

  /** Leases as many messages as handlers are free. */
  private async poll(): Promise<void> {
    const { concurrency = 1, wait = '20s', name, min = 1 } = this.options
    const { client } = this.queue
    const { signal } = this.polls
    let lastWarning = ''
    while (!signal.aborted) {
      const free = Math.min(concurrency - this.running, concurrency + UNACKED_MAX - this.jobs.size, LEASE_MAX)
      if (free <= 0) {
        await this.change
        continue
      }
      try {
        const request = { max: free, lease: `${this.leaseMs}ms` as const, wait, signal, ...(name === undefined ? {} : { worker: name }), ...(min > 1 ? { min: Math.min(min, free) } : {}) }
        await this.begin(await client.lease<T>(this.queue.name, request))
        lastWarning = ''
      } catch (error) {
        if (signal.aborted) return
        const warning = `no lease of queue ${this.queue.name}: ${String(error)}`
        if (warning !== lastWarning) this.log(warning)
        lastWarning = warning
        await pause(ERROR_PAUSE_MS, signal).catch(() => undefined)
      }
    }
  }

  private async begin(leases: Lease<T>[]): Promise<void> {
    const jobs = leases.map((lease) => new Job<T>(lease, this.heart, this.log))
    if (this.polls.signal.aborted) return this.giveBack(jobs) // came at the last moment
    if (jobs.length) this.heart.add(jobs, this.leaseMs)
    for (const job of jobs) {
      this.jobs.add(job)
      void this.carryOut(job)
    }
  }

  /** Handles one message, and reports what came of it. Never rejects. */
  private async carryOut(job: Job<T>): Promise<void> {
    this.running++
    const timer = this.options.timeout === undefined ? undefined : this.limit(job, this.options.timeout)
    let report: () => Promise<unknown>
    try {
      report = this.ackOf(job, await this.handle(job))
    } catch (error) {
      try {
        report = this.reportOf(job, error)
      } catch { // what was thrown throws when it is looked at
        report = () => this.fail(job, reasonOf(error))
      }
    }
    if (timer) clearTimeout(timer)
    this.running--
    this.notify()
    await this.end(job, report)
  }

  private async handle({ context, lease }: Job<T>): Promise<R> {
    const last = async (data: unknown): Promise<R> => this.handlerOf(lease)(await checked(this.queue.schema, data), context)
    return await aroundHandler(this.queue.client.middleware, context as Context, last)(lease.data) as R
  }

  private handlerOf({ headers: { kind } }: Lease<T>): Handler<T, R> {
    if (typeof this.handlers === 'function') return this.handlers
    const handler = kind !== undefined && Object.hasOwn(this.handlers, kind) ? this.handlers[kind] : undefined
    if (!handler) throw new Error(`no handler for the kind \`${kind ?? ''}\`: there is ${Object.keys(this.handlers).join(', ')}`)
    return handler
  }

  /** Fails the attempt, and calls the middleware if the message is a dead letter now. */
  private async fail(job: Job<T>, reason: string, options?: FailOptions): Promise<void> {
    const { client } = this.queue
    await this.heart.flush(job)
    if ((await client.fail(job.lease, shortened(reason), options)).outcome !== 'dead') return
    for (const { dead } of client.middleware) {
      try {
        dead?.(job.context as Context, reason)
      } catch (error) {
        this.log('a middleware has failed', error)
      }
    }
  }

  /** The call that ends the lease after the handler has returned. */
  private ackOf(job: Job<T>, result: R): () => Promise<unknown> {
    try {
      const text = result === undefined ? undefined : encode(result, 'result', RESULT_LEVELS_MAX)
      return () => this.acks.ack(job.token, text)
    } catch (error) {
      const reason = `its outcome was refused: ${reasonOf(error)}`
      this.log(`message ${job.id}: ${reason}`)
      return () => this.fail(job, reason)
    }
  }

  /** The call that ends the lease after the handler has thrown. */
  private reportOf(job: Job<T>, thrown: unknown): () => Promise<unknown> {
    const release = async (options?: { delay: Duration }): Promise<unknown> => {
      await this.heart.flush(job)
      return this.queue.client.release(job.lease, options)
    }
    if (thrown instanceof Retry) {
      const { message, after } = thrown
      return () => this.fail(job, message, after === undefined ? {} : { retryIn: after })
    }
    if (thrown instanceof Snooze) {
      const { delay } = thrown
      return () => release({ delay })
    }
    if (thrown instanceof Dead) {
      const { message } = thrown
      return () => this.fail(job, message, { dead: true })
    }
    if (job.cancelledBy === 'stopping') return () => release()
    if (!job.cancelledBy) this.log(`the handler of message ${job.id} failed`, thrown)
    return () => this.fail(job, reasonOf(thrown))
  }

  /** Reports until there is a response. While the server cannot be reached, it ends no leases; so this goes on until the worker has stopped.
   * The same holds while it refuses the token. */
  private async insist(job: Job<T>, report: () => Promise<unknown>): Promise<void> {
    try {
      for (;;) {
        try {
          await report()
          return
        } catch (error) {
          if (this.over.signal.aborted || isFinal(error)) throw error
          this.unreported.add(job.token, error, performance.now())
          await (this.pausing ??= this.pauseAll())
        }
      }
    } finally {
      this.unreported.remove(job.token)
    }
  }

  /** One pause for all outcomes that wait, of which there may be a thousand. */
  private async pauseAll(): Promise<void> {
    await pause(ERROR_PAUSE_MS, this.over.signal).catch(() => undefined)
    this.pausing = undefined
  }

  /** Ends the lease, unless it is lost or given back. The lease is extended until there is a response. */
  private async end(job: Job<T>, report: () => Promise<unknown>): Promise<void> {
    if (job.disown()) {
      try {
        await this.insist(job, report)
      } catch (error) {
        if (error instanceof Conflict) {
          this.log(`what became of message ${job.id} is not recorded, its lease had ended: ${error.message}`)
        } else {
          // The result may be too large. The attempt fails visibly instead of being repeated for ever.
          this.log(`the outcome of message ${job.id} is not recorded: ${String(error)}`)
          if (isFinal(error)) await this.insist(job, () => this.fail(job, `its outcome was refused: ${(error as Error).message}`)).catch((again) => this.log(String(again)))
        }
      }
    }
    this.heart.remove(job)
    this.jobs.delete(job)
    this.notify()
  }

  /** Cancels the handler after the timeout, and fails the attempt if it does not return then. Its place is free when it returns. */
  private limit(job: Job<T>, timeout: Duration): Timer {
    return setTimeout(() => {
      job.cancel('timeout')
      setTimeout(() => void this.end(job, () => this.fail(job, `the handler did not return within ${timeout}`)), GRACE_MS).unref()
    }, milliseconds(timeout, 'timeout'))
  }

  private async finish(timeoutMs: number): Promise<void> {
    this.polls.abort()
    this.notify()
    if (!this.polling) return
    await this.idle(timeoutMs)
    for (const job of this.jobs) job.cancel('stopping')
    await this.idle(timeoutMs > 0 ? GRACE_MS : 0)
    const late = [...this.jobs].filter((job) => job.disown())
    await this.giveBack(late)
    for (const job of late) {
      this.heart.remove(job)
      this.jobs.delete(job)
    }
    await this.idle(this.queue.client.timeMs, false) // whose outcome is on its way
    this.over.abort()
    await this.polling
    this.heart.end()
  }

  private async giveBack(jobs: Job<T>[]): Promise<void> {
    await Promise.all(jobs.map((job) => this.heart.flush(job)))
    for (let at = 0; at < jobs.length; at += LEASE_MAX) {
      await this.queue.client.releaseMany(jobs.slice(at, at + LEASE_MAX).map((job) => job.lease))
        .catch((error) => this.log(`messages were not released: ${String(error)}`))
    }
  }

  /** Until no lease is held, or for this time, or until the stop is in a hurry, if that matters. */
  private async idle(timeMs: number, mayHurry = true): Promise<void> {
    let over = false
    const timer = setTimeout(() => {
      over = true
      this.notify()
    }, timeMs)
    while (this.jobs.size && !over && !(mayHurry && this.hurry)) await this.change
    clearTimeout(timer)
  }
}

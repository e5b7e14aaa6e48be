/** The client: methods for the calls of the HTTP API that a program makes. */

import { randomUUID } from 'node:crypto'

import { openAll, sealed, type Codec } from './codec.js'
import { DuewheelError, InvalidRequest, errorOf, isProblem } from './errors.js'
import { Lease, Message, Receipt } from './messages.js'
import { aroundBatch, aroundPut, type Middleware, type Outgoing } from './middleware.js'
import { Queues, Schedules, Watchdogs } from './named.js'
import type * as api from './openapi.js'
import { Queue } from './queue.js'
import type { StandardSchema } from './schema.js'
import { Transport, type Address, type Request, type Times } from './transport.js'
import { members, milliseconds, query, segment, text, type Duration, type Instant, type Members, type OptionsOf } from './wire.js'

/** What every call takes: it ends with the reason of the signal when this is aborted. What the server has carried out by then, stays. */
export interface CallOptions { signal?: AbortSignal }

/** `kind` is a header that says which of several types of messages of the queue this is. `traceparent` (W3C Trace Context) is stored with
 * the message; all messages of a batch have that of the first. */
export type PutOptions = OptionsOf<api.Put> & { kind?: string; traceparent?: string }
export type LeaseOptions = OptionsOf<api.Lease> & CallOptions
export type FailOptions = OptionsOf<Omit<api.Fail, 'reason'>> & CallOptions
export type ExtendOptions = OptionsOf<api.Extend> & CallOptions
export type ReleaseOptions = OptionsOf<api.Release> & CallOptions
/** `data` is the new content. Members that are null are removed. */
export type MoveOptions = OptionsOf<api.Move> & CallOptions & { data?: unknown }

export interface ListOptions extends CallOptions {
  state?: api.State
  /** How many messages one request returns. */
  page?: number
  [filter: string]: unknown
}

/** A message by its id, or by queue and key. */
export type Which = string | { queue: string; key: string }
/** A leased message, or its lease token alone. */
export type Token = string | Lease

export interface ClientOptions {
  /** Such as http://127.0.0.1:7420. */
  url: string
  /** An access token, `dw_...`. */
  token?: string
  /** That of all calls, by default `default`. */
  namespace?: string
  /** The deadline of each call with all its attempts, "30s" by default. A call that waits at the server has that time in addition. */
  timeout?: Duration
  /** The certificate of the authority that signs the server's certificate, as PEM; by default those that Node knows. */
  ca?: string | Uint8Array
  /** What runs around each put and each handler, the first one outermost. */
  middleware?: readonly Middleware[]
  /** Encodes the payload of what is put, and decodes that of what is read. */
  codec?: Codec
}

/** Every call is safe to repeat, and is repeated when its response is lost. Calls throw DuewheelError. */
export class Duewheel {
  /** What another client of the same kind needs, such as the one in the thread of the heartbeats; no more than a thread can be given. */
  readonly options: Readonly<ClientOptions>
  readonly middleware: readonly Middleware[]
  /** The deadline of each call. */
  readonly timeMs: number
  private readonly codec: Codec | undefined
  private readonly transport: Transport
  private readonly base: string

  /** Settings and state of queues. */
  readonly queues: Queues
  /** `schedules.set(...)` at each start of a program changes nothing if the settings are the same. */
  readonly schedules: Schedules
  readonly watchdogs: Watchdogs

  constructor(options: ClientOptions) {
    this.timeMs = milliseconds(options.timeout ?? '30s', 'timeout')
    const address: Address = { url: options.url, token: options.token, ca: options.ca, timeMs: this.timeMs }
    const { url, token, namespace, timeout, ca } = options
    this.options = { url, ...(token !== undefined && { token }), ...(namespace !== undefined && { namespace }), ...(timeout && { timeout }), ...(ca && { ca }) }
    this.middleware = options.middleware ?? []
    this.codec = options.codec
    this.transport = new Transport(address)
    this.base = options.namespace === undefined ? '/v1' : `/v1/namespaces/${segment(options.namespace)}`
    this.queues = new Queues(this, 'queues')
    this.schedules = new Schedules(this, 'schedules')
    this.watchdogs = new Watchdogs(this, 'watchdogs')
  }

  /** Closes the kept connections. */
  close(): void {
    this.transport.close()
  }

  /** A queue whose messages have one type. With a schema, such as one of zod, data is checked at the put and before a handler gets it. */
  queue<T = unknown>(name: string, options: { schema?: StandardSchema<T> } = {}): Queue<T> {
    return new Queue(this, name, options.schema)
  }

  /** Any call of the API, by method and path below /v1: a way to what has no method here. */
  call(method: string, path: string, value?: Members, parameters: Members = {}, options: CallOptions & Times & { traceparent?: string | undefined } = {}): Promise<unknown> {
    const body = value && text(sealed(value, this.codec))
    const { signal, waitMs, timeMs, traceparent } = options
    return this.send({ method, path: path + query(parameters), body: body === undefined ? undefined : () => body, signal, waitMs, timeMs, traceparent })
  }

  private async send(request: Request): Promise<unknown> {
    const answer = await this.transport.send({ ...request, path: this.base + request.path })
    openAll(answer, this.codec)
    return answer
  }

  // Messages

  /** Puts a message. A string is sent as text, a Uint8Array as bytes, anything else as JSON. Without a key it gets a random one, so that
   * it is put once even if its response is lost. */
  put(queue: string, data: unknown, options: PutOptions & CallOptions = {}): Promise<Receipt> {
    const { signal, ...others } = options
    return aroundPut(this.middleware, (put) => this.putOne(put, signal))({ queue, data, options: others })
  }

  private async putOne({ queue, data, options }: Outgoing, signal: AbortSignal | undefined): Promise<Receipt> {
    const answer = await this.call('POST', `/queues/${segment(queue)}/messages`, putOf({ ...options, data }), {}, { ...(signal && { signal }), traceparent: options.traceparent })
    return new Receipt(answer as api.PutResponse)
  }

  /** Puts up to 1,000 messages with one request. For each, in order, its receipt or the error that refused it. */
  putMany(queue: string, puts: Iterable<PutOptions & { data: unknown }>, options: CallOptions = {}): Promise<(Receipt | DuewheelError)[]> {
    const messages = Array.from(puts, ({ data, ...others }): Outgoing => ({ queue, data, options: others }))
    const batch = (passed: Outgoing[]): Promise<(Receipt | DuewheelError)[]> => this.putBatch(queue, passed, options.signal)
    if (!this.middleware.some(({ put }) => put)) return batch(messages)
    return aroundBatch(this.middleware, messages, (put) => this.putOne(put, options.signal), batch)
  }

  private async putBatch(queue: string, puts: Outgoing[], signal: AbortSignal | undefined): Promise<(Receipt | DuewheelError)[]> {
    const body = puts.map(({ data, options }) => text(sealed(putOf({ ...options, data }), this.codec)) + '\n').join('')
    const path = `/queues/${segment(queue)}/messages:batch`
    const answer = await this.send({ method: 'POST', path, body: () => body, kind: 'application/x-ndjson', signal, traceparent: puts[0]?.options.traceparent })
    return (answer as api.PutResult[]).map((line) => (isProblem(line) ? errorOf(line) : new Receipt(line)))
  }

  /** The message. With `wait`, up to a minute, when it has ended. */
  async get<T = unknown>(which: Which, options: CallOptions & { wait?: Duration } = {}): Promise<Message<T>> {
    const [path, parameters] = placeOf(which)
    const { wait, signal } = options
    const waits = wait === undefined ? {} : { wait }
    const waitMs = wait === undefined ? 0 : milliseconds(wait, 'wait')
    return new Message(await this.call('GET', path, undefined, { ...parameters, ...waits }, { waitMs, signal }) as api.Message)
  }

  /** Waits for the end of the message, and returns it with its `result`; after `timeout`, as it is then. */
  async wait<T = unknown>(which: Which, options: CallOptions & { timeout?: Duration } = {}): Promise<Message<T>> {
    let leftMs = options.timeout === undefined ? Infinity : milliseconds(options.timeout, 'timeout')
    for (;;) {
      const stepMs = Math.ceil(Math.min(leftMs, 60_000))
      const message = await this.get<T>(which, { ...options, wait: `${stepMs}ms` })
      leftMs -= stepMs
      if (message.hasEnded || leftMs <= 0) return message
    }
  }

  /** Cancels a message: "cancelled". With `running`, "cancelling" if a worker has it, which is asked to stop. */
  async cancel(which: Which, options: CallOptions & { running?: boolean } = {}): Promise<api.CancelResponse> {
    const [path, parameters] = placeOf(which)
    return await this.call('DELETE', path, undefined, options.running ? { ...parameters, running: true } : parameters, options) as api.CancelResponse
  }

  /** Changes the due time of a message (`delay` or `due`), its content (`data`), or other members of its put. */
  async move(which: Which, options: MoveOptions): Promise<api.MoveResponse> {
    const [path, parameters] = placeOf(which)
    return await this.call('PATCH', path, members(options), parameters, options) as api.MoveResponse
  }

  /** Makes a scheduled message due now. */
  async fire(id: string, options?: CallOptions): Promise<api.FireResponse> { return await this.act(id, 'fire', options) as api.FireResponse }
  /** Holds a message until it is kicked. */
  async hold(id: string, options?: CallOptions): Promise<api.HoldResponse> { return await this.act(id, 'hold', options) as api.HoldResponse }
  /** Returns a held message or a dead letter to its queue. */
  async kick(id: string, options?: CallOptions): Promise<api.KickResponse> { return await this.act(id, 'kick', options) as api.KickResponse }
  /** Ends a held message or a dead letter for good. */
  async discard(id: string, options?: CallOptions): Promise<api.DiscardResponse> { return await this.act(id, 'discard', options) as api.DiscardResponse }
  /** Makes a prepared message a normal one. */
  async commit(id: string, options?: CallOptions): Promise<api.CommitResponse> { return await this.act(id, 'commit', options) as api.CommitResponse }
  /** Ends a prepared message. */
  async rollback(id: string, options?: CallOptions): Promise<api.RollbackResponse> { return await this.act(id, 'rollback', options) as api.RollbackResponse }

  private act(id: string, verb: string, options?: CallOptions): Promise<unknown> {
    return this.call('POST', `/messages/${segment(id)}:${verb}`, undefined, {}, options)
  }

  /** Prepares a message, does the work, and commits it; if the work throws, rolls it back and throws the same. If this process ends in
   * between, the server asks for the outcome with a message in `checkBack.queue`, which a checker answers; without one, or without an
   * answer, the message is rolled back. */
  async transaction<R>(queue: string, data: unknown, options: PutOptions & { transaction: NonNullable<PutOptions['transaction']> }, work: (receipt: Receipt) => Promise<R>): Promise<R> {
    const receipt = await this.put(queue, data, options)
    let result: R
    try {
      result = await work(receipt)
    } catch (error) {
      await this.rollback(receipt.id).catch(() => undefined) // the check, or the time, rolls it back too
      throw error
    }
    await this.commit(receipt.id)
    return result
  }

  /** The unfinished messages of a queue by due time, page by page; with `state: "dead"` its dead letters. */
  async *list<T = unknown>(queue: string, options: ListOptions = {}): AsyncGenerator<Message<T>, void, undefined> {
    const { page = 100, signal, ...filters } = options
    let cursor = {}
    for (;;) {
      const parameters = { ...members(filters), limit: page, ...cursor }
      const answer = await this.call('GET', `/queues/${segment(queue)}/messages`, undefined, parameters, { signal }) as api.MessagePage
      for (const message of answer.messages) yield new Message<T>(message)
      if (answer.cursor === undefined) return
      cursor = { cursor: answer.cursor }
    }
  }

  // Leases

  /** Leases up to `max` due messages, and waits up to `wait` for the first. An attempt that follows a lost one waits for the rest. */
  async lease<T = unknown>(queue: string, options: LeaseOptions = {}): Promise<Lease<T>[]> {
    const { wait, ...others } = options
    const waitMs = wait === undefined ? 0 : milliseconds(wait, 'wait')
    const request = members(others)
    const body = (passedMs: number): string => {
      const leftMs = Math.ceil(waitMs - passedMs)
      return text(leftMs > 0 ? { ...request, wait_ms: leftMs } : request)
    }
    const answer = await this.send({ method: 'POST', path: `/queues/${segment(queue)}:lease`, body, waitMs, signal: options.signal })
    return (answer as api.LeaseResponse).messages.map((message) => new Lease<T>(message))
  }

  /** Ends the message as done. The result is any JSON of up to 64 KiB, which the producer gets with wait(). */
  async ack(lease: Token, result?: unknown, options?: CallOptions): Promise<api.AckResponse> {
    return await this.end(lease, 'ack', result === undefined ? {} : { result }, options) as api.AckResponse
  }

  /** Ends the attempt as failed: "retrying", or "dead" after the last attempt or with `dead`. */
  async fail(lease: Token, reason?: string, options: FailOptions = {}): Promise<api.FailResponse> {
    return await this.end(lease, 'fail', members({ reason, ...options }), options) as api.FailResponse
  }

  /** The lease lasts `lease` from now. The answer has `cancel_requested` if the worker should stop. */
  async extend(lease: Token, options: ExtendOptions = {}): Promise<api.ExtendResponse> {
    return await this.end(lease, 'extend', members(options), options) as api.ExtendResponse
  }

  /** Returns the message to its queue; the attempt does not count. */
  async release(lease: Token, options: ReleaseOptions = {}): Promise<api.ReleaseResponse> {
    return await this.end(lease, 'release', members(options), options) as api.ReleaseResponse
  }

  /** Holds the message until it is kicked. */
  async holdLeased(lease: Token, options?: CallOptions): Promise<api.HoldLeaseResponse> {
    return await this.end(lease, 'hold', {}, options) as api.HoldLeaseResponse
  }

  private end(lease: Token, verb: string, value: Members, options?: CallOptions): Promise<unknown> {
    return this.call('POST', `/leases/${segment(tokenOf(lease))}:${verb}`, Object.keys(value).length ? value : undefined, {}, options)
  }

  /**
   * These end or extend up to 1,000 leases. For each, in order, its outcome or the error that refused it. An object with `token` has a
   * result for that lease alone.
   */
  ackMany(leases: (Token | api.AckEach)[], result?: unknown, options: CallOptions = {}): Promise<(api.AckResult | DuewheelError)[]> {
    return this.many(leases, 'ack', result === undefined ? {} : { result }, options)
  }
  /** As ackMany(), with each lease, or its object, as JSON. */
  async ackTexts(leases: readonly string[]): Promise<(api.AckResult | DuewheelError)[]> {
    return resultsOf(await this.send({ method: 'POST', path: '/leases:ack', body: () => `{"leases":[${leases.join()}]}` }))
  }
  failMany(leases: Token[], reason?: string, options: FailOptions = {}): Promise<(api.FailResult | DuewheelError)[]> {
    return this.many(leases, 'fail', members({ reason, ...options }), options)
  }
  extendMany(leases: Token[], options: ExtendOptions & { timeMs?: number } = {}): Promise<(api.ExtendResult | DuewheelError)[]> {
    const { timeMs, ...others } = options
    return this.many(leases, 'extend', members(others), timeMs === undefined ? options : { timeMs })
  }
  releaseMany(leases: Token[], options: ReleaseOptions = {}): Promise<(api.ReleaseResult | DuewheelError)[]> {
    return this.many(leases, 'release', members(options), options)
  }

  private async many<R extends object>(leases: (Token | api.AckEach)[], verb: string, value: Members, options: CallOptions & Times): Promise<(R | DuewheelError)[]> {
    return resultsOf(await this.call('POST', `/leases:${verb}`, { leases: leases.map(inMany), ...value }, {}, options))
  }

  /** Moves the time of a server that was started with --test-clock. */
  async advance(by: Duration | { to: Instant }, options: CallOptions = {}): Promise<api.Clock> {
    const value = typeof by === 'string' ? { by } : members({ due: by.to })
    const body = text(typeof by === 'string' ? value : { to: value['due'] })
    return await this.transport.send({ method: 'POST', path: '/v1/clock:advance', body: () => body, signal: options.signal }) as api.Clock
  }
}

/** The members of a put. Each call makes another key, if the options have none: it is called once for all attempts. */
function putOf({ kind, traceparent: _, ...options }: PutOptions & { data: unknown }): Members {
  if (options.data === undefined) throw new InvalidRequest('not_json', '`data` is undefined: put null, or an empty text', 'data')
  const value = members(options)
  if (kind !== undefined) value['headers'] = { ...options.headers, kind }
  return { key: randomUUID(), ...value }
}

function tokenOf(lease: Token): string {
  return typeof lease === 'string' ? lease : lease.token
}

function inMany(lease: Token | api.AckEach): unknown {
  if (typeof lease === 'object' && 'result' in lease) return { token: lease.token, result: lease.result }
  return typeof lease === 'string' ? lease : lease.token
}

function resultsOf<R extends object>(answer: unknown): (R | DuewheelError)[] {
  return (answer as { results: (R | api.Problem)[] }).results.map((item) => (isProblem(item) ? errorOf(item) : item))
}

/** The path and the query of a message. */
function placeOf(which: Which): [string, Members] {
  return typeof which === 'string' ? [`/messages/${segment(which)}`, {}] : ['/messages', { queue: which.queue, key: which.key }]
}

/** What calls return. Each value keeps the object that the server sent as `raw`, where newer members are found too. */

import type * as api from './openapi.js'
import { dataOf } from './wire.js'

/** The response to a put. */
export class Receipt {
  constructor(readonly raw: api.PutResponse) {}

  get id(): string { return this.raw.id }
  get state(): api.State { return this.raw.state }
  get due(): Date { return new Date(this.raw.due_ms) }
  /** Whether a message with this key existed, and was left as it is (`onKey: "keep"`). */
  get kept(): boolean { return this.raw.kept ?? false }
  /** Whether the put took the place of an earlier one (`onKey: "replace"`). */
  get replaced(): boolean { return this.raw.replaced ?? false }
}

const ENDED: ReadonlySet<api.State> = new Set<api.State>(['done', 'cancelled', 'expired', 'dead'])

/** A message as it is shown. */
export class Message<T = unknown> {
  constructor(readonly raw: api.Message) {}

  get id(): string { return this.raw.id }
  get queue(): string { return this.raw.queue }
  get state(): api.State { return this.raw.state }
  get hasEnded(): boolean { return ENDED.has(this.raw.state) }
  get due(): Date { return new Date(this.raw.due_ms) }
  get key(): string | undefined { return this.raw.key }
  get group(): string | undefined { return this.raw.group }
  get attempts(): number { return this.raw.attempts }
  get headers(): Readonly<Record<string, string>> { return this.raw.headers ?? {} }
  /** Its content: the value of JSON, text or bytes; undefined after its end. */
  get data(): T | undefined { return dataOf(this.raw) as T | undefined }
  /** What its worker returned. */
  get result(): unknown { return this.raw.result }
  /** Why its last attempt failed. */
  get reason(): string | undefined { return this.raw.reason }
  get progress(): unknown { return this.raw.progress }
}

/** A message that this consumer has until its lease ends. */
export class Lease<T = unknown> {
  constructor(readonly raw: api.Delivery) {}

  get id(): string { return this.raw.id }
  get queue(): string { return this.raw.queue }
  get token(): string { return this.raw.lease }
  get attempt(): number { return this.raw.attempt }
  get due(): Date { return new Date(this.raw.due_ms) }
  get until(): Date { return new Date(this.raw.lease_until_ms) }
  /** How late the server delivered it, in milliseconds. */
  get latenessMs(): number { return this.raw.lateness_ms }
  get key(): string | undefined { return this.raw.key }
  get group(): string | undefined { return this.raw.group }
  get headers(): Readonly<Record<string, string>> { return this.raw.headers ?? {} }
  get data(): T { return dataOf(this.raw) as T }
  /** What an earlier attempt said last. */
  get checkpoint(): unknown { return this.raw.checkpoint }
  /** The trace of the put (W3C Trace Context). */
  get traceparent(): string | undefined { return this.raw.traceparent }
  /** The prepared message that a check of a transaction asks about. */
  get check(): api.Check | undefined { return this.raw.check }
}

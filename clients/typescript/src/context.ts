/** What a handler knows about its message, and says about its work. */

import type { Said } from './beats.js'
import { InvalidRequest } from './errors.js'
import type { Beating, Heart } from './heart.js'
import { decode, encode } from './json.js'
import type { Lease } from './messages.js'
import { Cancelled, type CancelReason } from './outcomes.js'

const LEVELS_MAX = 1000 // few enough for the stack; what is too deep for the server is dropped like all that it refuses

export class Context<T = unknown> {
  readonly id: string
  readonly attempt: number
  readonly group: string | undefined
  readonly due: Date
  /** How late the server delivered the message, in milliseconds. */
  readonly latenessMs: number
  readonly headers: Readonly<Record<string, string>>
  /** What an earlier attempt said last. */
  readonly checkpoint: unknown
  /** Aborted when the lease is lost, a cancel was requested, or the worker stops now. Its reason is a Cancelled that says which. */
  readonly signal: AbortSignal

  constructor(readonly lease: Lease<T>, private readonly job: Job<T>, signal: AbortSignal) {
    this.id = lease.id
    this.attempt = lease.attempt
    this.group = lease.group
    this.due = lease.due
    this.latenessMs = lease.latenessMs
    this.headers = lease.headers
    this.checkpoint = lease.checkpoint
    this.signal = signal
  }

  /** When the lease ends by itself, by server time, as of the delivery; heartbeats postpone it. */
  get deadline(): Date {
    return this.lease.until
  }

  get cancelled(): boolean {
    return this.signal.aborted
  }

  /** Says how far the work is, 0 to 1 or any JSON of up to 1 KiB, within a second, and before a failure. A checkpoint, of up to 16 KiB, is
   * what the next attempt gets if this one does not end. */
  progress(value: unknown, options: { checkpoint?: unknown } = {}): void {
    this.job.say({ progress: value, ...(options.checkpoint === undefined ? {} : options) })
  }
}

/** A message at work: its context, its cancel, and whether its lease is still this worker's to end. */
export class Job<T = unknown> implements Beating {
  readonly context: Context<T>
  readonly token: string
  private readonly controller = new AbortController()
  private owned = true

  constructor(readonly lease: Lease<T>, private readonly heart: Heart, private readonly log: (text: string) => void) {
    this.token = lease.token
    this.context = new Context(lease, this, this.controller.signal)
  }

  get id(): string {
    return this.lease.id
  }

  /** From now on nothing else ends the lease. False if it was disowned before. */
  disown(): boolean {
    const { owned } = this
    this.owned = false
    return owned
  }

  cancel(why: CancelReason): void {
    this.controller.abort(new Cancelled(why))
  }

  /** Why the handler was cancelled. */
  get cancelledBy(): CancelReason | undefined {
    const { reason } = this.controller.signal as { reason: unknown }
    return reason instanceof Cancelled ? reason.why : undefined
  }

  lost(detail: string): void {
    if (this.disown()) this.log(`the lease of message ${this.id} was lost, and its handler is cancelled: ${detail}`)
    this.cancel('lease_lost')
  }

  cancelRequested(): void {
    this.cancel('cancel_requested')
  }

  say(said: { progress: unknown; checkpoint?: unknown }): void {
    const plain = Object.entries(said).map(([name, value]) => {
      if (value === undefined) throw new InvalidRequest('not_json', `\`${name}\` is undefined: null removes it`, name)
      return [name, decode(encode(value, name, LEVELS_MAX))] // what is no JSON fails here, and not in the thread
    })
    if (this.owned) this.heart.say(this, Object.fromEntries(plain) as Said)
  }
}

/** What a handler throws to say what becomes of its message, and why a handler is cancelled. */

import type { Duration } from './wire.js'

/** The attempt has failed, and the next one follows `after` this time instead of the backoff. */
export class Retry extends Error {
  readonly after: Duration | undefined

  constructor(reason = 'retry', options: { after?: Duration } = {}) {
    super(reason)
    this.name = 'Retry'
    this.after = options.after
  }
}

/** Not now: the message returns after this time, and the attempt does not count. */
export class Snooze extends Error {
  constructor(readonly delay: Duration) {
    super(`for ${delay}`)
    this.name = 'Snooze'
  }
}

/** No attempt will succeed: the message is a dead letter at once. */
export class Dead extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'Dead'
  }
}

export type CancelReason = 'lease_lost' | 'cancel_requested' | 'stopping' | 'timeout'

const CANCEL_TEXTS: Record<CancelReason, string> = {
  lease_lost: 'the lease was lost: another worker may have the message',
  cancel_requested: 'a cancel of the running work was requested',
  stopping: 'the worker stops',
  timeout: 'the handler has taken longer than its timeout',
}

/** The reason of the signal of a handler, and so what `fetch` and others throw that have the signal. */
export class Cancelled extends Error {
  constructor(readonly why: CancelReason) {
    super(CANCEL_TEXTS[why])
    this.name = 'Cancelled'
  }
}

/** What a handler threw, whatever it is, as a reason for people. */
export function reasonOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? (thrown.stack ?? String(thrown)) : `the handler threw ${typeof thrown === 'string' ? thrown : inspect(thrown)}`
  } catch {
    return 'the handler threw a value that has no text'
  }
}

function inspect(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
}

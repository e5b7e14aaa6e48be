/** What a handler throws to say what becomes of its message, and why a handler is cancelled. */

import { Buffer } from 'node:buffer'

import { milliseconds, type Duration } from './wire.js'

const REASON_MAX = 4096 // bytes of UTF-8, as at the server
const GAP = ' … '

/** The attempt has failed, and the next one follows `after` this time instead of the backoff. */
export class Retry extends Error {
  readonly after: Duration | undefined

  constructor(reason = 'retry', options: { after?: Duration } = {}) {
    super(reason)
    if (options.after !== undefined) milliseconds(options.after, 'after')
    this.name = 'Retry'
    this.after = options.after
  }
}

/** Not now: the message returns after this time, and the attempt does not count. */
export class Snooze extends Error {
  constructor(readonly delay: Duration) {
    super(`for ${delay}`)
    milliseconds(delay, 'delay')
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

/** The reason as the server keeps it: valid Unicode, with a quarter of what fits from its beginning, and the rest from its end. */
export function shortened(reason: string): string {
  const bytes = Buffer.from(reason) // half of a surrogate pair is replaced
  if (bytes.length <= REASON_MAX) return bytes.toString()
  const isWithin = (at: number): boolean => (bytes[at]! & 0xc0) === 0x80 // a character
  let head = REASON_MAX / 4
  let tail = bytes.length - (REASON_MAX - head - Buffer.from(GAP).length)
  while (isWithin(head)) head--
  while (isWithin(tail)) tail++
  return Buffer.from(bytes.subarray(0, head)).toString() + GAP + Buffer.from(bytes.subarray(tail)).toString()
}

/** What a handler threw, whatever it is, as a reason for people. */
export function reasonOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? (typeof thrown.stack === 'string' ? thrown.stack : String(thrown)) : `the handler threw ${typeof thrown === 'string' ? thrown : inspect(thrown)}`
  } catch {
    return 'the handler threw a value that has no text'
  }
}

function inspect(value: unknown): string {
  return typeof value === 'object' && value !== null ? String(JSON.stringify(value)) : String(value)
}

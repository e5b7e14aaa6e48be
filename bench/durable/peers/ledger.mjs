// What became of every message of a run: when it was due, how often it was delivered and acknowledged, and how late it came.
// Times are whole milliseconds of this machine's clock, cut off, both for puts and deliveries: a delivery that counts as
// early is early.
import { randomBytes } from 'node:crypto'

const DIGITS = 12
export const BODY_BYTES = 200

/** A body of 200 random bytes that begins with its number: `000000000007 ...`. */
export function bodyOf(number) {
  const random = randomBytes(150).toString('base64')
  return `${String(number).padStart(DIGITS, '0')} ${random}`.slice(0, BODY_BYTES)
}

export const numberOf = (body) => Number(body.slice(0, DIGITS))

/** p50, p99 and the maximum; `values` are sorted in place. Null without values. */
export function levels(values) {
  if (values.length === 0) return null
  values.sort((one, other) => one - other)
  const at = (part) => values[Math.min(values.length - 1, Math.floor(part * values.length))]
  return { p50: at(0.5), p99: at(0.99), max: values.at(-1) }
}

export class Ledger {
  #messages = new Map()
  #unknown = 0
  #undone = 0 // accepted, not cancelled, not acknowledged
  lastEventMs = 0
  lastAcknowledgedMs = 0

  /** Call it just before the put: `nowMs` plus the delay is the earliest time at which the message may come. */
  sent(number, nowMs, delayMs) {
    this.#messages.set(number, { dueMs: nowMs + delayMs, accepted: false, cancelled: false, deliveries: 0, acknowledgements: 0, lateMs: 0 })
  }

  accepted(number) {
    const message = this.#messages.get(number)
    message.accepted = true
    if (message.acknowledgements === 0) ++this.#undone
  }

  /** The server confirmed that the message will not be delivered. */
  cancelled(number) {
    this.#messages.get(number).cancelled = true
    --this.#undone
  }

  delivered(number, nowMs) {
    this.lastEventMs = nowMs
    const message = this.#messages.get(number)
    if (!message) {
      ++this.#unknown
      return
    }
    if (++message.deliveries === 1) message.lateMs = nowMs - message.dueMs
  }

  acknowledged(number, nowMs) {
    this.lastEventMs = this.lastAcknowledgedMs = nowMs
    const message = this.#messages.get(number)
    if (!message || message.cancelled) return
    if (++message.acknowledgements === 1 && message.accepted) --this.#undone
  }

  /** How many accepted messages are neither cancelled nor acknowledged. */
  get undone() {
    return this.#undone
  }

  get lastDueMs() {
    let last = 0
    for (const { dueMs } of this.#messages.values()) last = Math.max(last, dueMs)
    return last
  }

  report() {
    const report = { accepted: 0, cancelled: 0, delivered: 0, acknowledged: 0, twice: 0, lost: 0, unacknowledged: 0, early: 0, after_cancel: 0,
      unknown: this.#unknown }
    const late = []
    for (const message of this.#messages.values()) {
      report.accepted += message.accepted
      report.cancelled += message.cancelled
      report.twice += Math.max(0, message.deliveries - 1)
      report.acknowledged += message.acknowledgements > 0
      if (message.deliveries > 0) {
        ++report.delivered
        report.early += message.lateMs < 0
        report.after_cancel += message.cancelled
        report.unacknowledged += message.accepted && !message.cancelled && message.acknowledgements === 0
        late.push(message.lateMs)
      } else if (message.accepted && !message.cancelled) {
        ++report.lost
      }
    }
    return { ...report, late_ms: levels(late) }
  }
}

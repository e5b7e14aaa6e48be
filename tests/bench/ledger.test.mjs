import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BODY_BYTES, Ledger, bodyOf, levels, numberOf } from '../../bench/durable/peers/ledger.mjs'

/** A ledger with `count` accepted messages that are due at 2,000. */
function ledgerOf(count) {
  const ledger = new Ledger()
  for (let number = 0; number < count; ++number) {
    ledger.sent(number, 1000, 1000)
    ledger.accepted(number)
  }
  return ledger
}

function complete(ledger, number, nowMs) {
  ledger.delivered(number, nowMs)
  ledger.acknowledged(number, nowMs)
}

test('a body has 200 bytes, differs from all others, and names its number', () => {
  assert.equal(Buffer.byteLength(bodyOf(7)), BODY_BYTES)
  assert.notEqual(bodyOf(7), bodyOf(7))
  assert.equal(numberOf(bodyOf(7)), 7)
  assert.equal(numberOf(bodyOf(123_456_789)), 123_456_789)
})

test('messages that come once and are acknowledged are complete', () => {
  const ledger = ledgerOf(2)
  assert.equal(ledger.undone, 2)
  complete(ledger, 0, 2000)
  complete(ledger, 1, 2003)
  assert.equal(ledger.undone, 0)
  assert.equal(ledger.lastAcknowledgedMs, 2003)
  assert.deepEqual(ledger.report(), { accepted: 2, cancelled: 0, delivered: 2, acknowledged: 2, twice: 0, lost: 0, unacknowledged: 0,
    early: 0, after_cancel: 0, unknown: 0, late_ms: { p50: 3, p99: 3, max: 3 } })
})

test('a delivery may come before the response to its put', () => {
  const ledger = new Ledger()
  ledger.sent(0, 1000, 0)
  complete(ledger, 0, 1000)
  ledger.accepted(0)
  assert.equal(ledger.undone, 0)
  assert.equal(ledger.report().lost, 0)
})

test('a message that does not come is lost', () => {
  const ledger = ledgerOf(3)
  complete(ledger, 1, 2000)
  assert.equal(ledger.report().lost, 2)
  assert.equal(ledger.undone, 2)
})

test('a put without a response is not counted as lost', () => {
  const ledger = new Ledger()
  ledger.sent(0, 1000, 1000)
  assert.equal(ledger.report().lost, 0)
  assert.equal(ledger.undone, 0)
})

test('each further delivery is counted, and the first one decides how late it came', () => {
  const ledger = ledgerOf(1)
  complete(ledger, 0, 2001)
  complete(ledger, 0, 2500)
  complete(ledger, 0, 2600)
  const report = ledger.report()
  assert.equal(report.twice, 2)
  assert.equal(report.delivered, 1)
  assert.equal(report.late_ms.max, 1)
  assert.equal(ledger.undone, 0)
})

test('a millisecond before the due time is early, the due time itself is not', () => {
  const ledger = ledgerOf(2)
  ledger.delivered(0, 1999)
  ledger.delivered(1, 2000)
  assert.equal(ledger.report().early, 1)
})

test('a delivered message without an acknowledgement is not done', () => {
  const ledger = ledgerOf(2)
  complete(ledger, 0, 2000)
  ledger.delivered(1, 2000)
  assert.equal(ledger.undone, 1)
  const report = ledger.report()
  assert.equal(report.acknowledged, 1)
  assert.equal(report.unacknowledged, 1)
  assert.equal(report.lost, 0)
})

test('a cancelled message must not come', () => {
  const ledger = ledgerOf(2)
  ledger.cancelled(0)
  ledger.cancelled(1)
  assert.equal(ledger.undone, 0)
  complete(ledger, 1, 2000)
  const report = ledger.report()
  assert.equal(report.lost, 0)
  assert.equal(report.after_cancel, 1)
  assert.equal(ledger.undone, 0)
})

test('a message that was never put is unknown', () => {
  const ledger = ledgerOf(1)
  complete(ledger, 99, 2000)
  assert.equal(ledger.report().unknown, 1)
  assert.equal(ledger.undone, 1)
})

test('levels are those of the sorted values', () => {
  assert.equal(levels([]), null)
  const values = Array.from({ length: 1000 }, (_, index) => 999 - index)
  assert.deepEqual(levels(values), { p50: 500, p99: 990, max: 999 })
})

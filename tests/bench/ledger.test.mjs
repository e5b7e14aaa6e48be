import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { BODY_BYTES, Ledger, bodyOf, levels, numberOf } from '../../bench/durable/peers/ledger.mjs'

// The cases are also those of the ledger for Go. `put` is an accepted message that is due at 2,000.
for (const { name, steps, undone, report } of JSON.parse(readFileSync(new URL('ledger_cases.json', import.meta.url), 'utf8'))) {
  test(name, () => {
    const ledger = new Ledger()
    for (const [step, number, ...times] of steps) {
      if (step === 'put') {
        ledger.sent(number, 1000, 1000)
        ledger.accepted(number)
      } else {
        ledger[step](number, ...times)
      }
    }
    assert.equal(ledger.undone, undone)
    const found = ledger.report()
    for (const [key, value] of Object.entries(report)) assert.deepEqual(found[key], value, key)
  })
}

test('a body has 200 bytes, differs from all others, and names its number', () => {
  assert.equal(Buffer.byteLength(bodyOf(7)), BODY_BYTES)
  assert.notEqual(bodyOf(7), bodyOf(7))
  assert.equal(numberOf(bodyOf(7)), 7)
  assert.equal(numberOf(bodyOf(123_456_789)), 123_456_789)
})

test('the last acknowledgement has a time', () => {
  const ledger = new Ledger()
  ledger.sent(0, 1000, 1000)
  ledger.delivered(0, 2000)
  ledger.acknowledged(0, 2003)
  assert.equal(ledger.lastAcknowledgedMs, 2003)
})

test('levels are those of the sorted values', () => {
  assert.equal(levels([]), null)
  const values = Array.from({ length: 1000 }, (_, index) => 999 - index)
  assert.deepEqual(levels(values), { p50: 500, p99: 990, max: 999 })
})

import assert from 'node:assert/strict'
import test from 'node:test'

import { bucketsOf, bucketSize, localDay, peakOf, type Minute } from './buckets'

const MINUTE = 60_000

function minute(number: number, scheduled: number, more: Partial<Minute> = {}): Minute {
  const retrying = more.retrying ?? 0
  return { start_ms: number * MINUTE, due: scheduled + retrying, scheduled, recurring: 0, runs: 0, ...more, retrying }
}

test('rows are added up from multiples of the size on', () => {
  const rows = [minute(13, 1), minute(14, 2, { retrying: 3 }), minute(15, 4), minute(16, 5, { at_least: true })]
  const buckets = bucketsOf(rows, 15 * MINUTE)
  assert.deepEqual(buckets.map(({ start_ms, due, scheduled, retrying, at_least }) => [start_ms / MINUTE, due, scheduled, retrying, at_least]), [
    [0, 6, 3, 3, undefined],
    [15, 9, 9, 0, true],
  ])
  assert.equal(buckets[0]!.end_ms, 15 * MINUTE)
})

test('a range includes its first instant and excludes its last', () => {
  const rows = [minute(10, 1), minute(11, 2), minute(12, 4)]
  assert.deepEqual(bucketsOf(rows, MINUTE, 11 * MINUTE, 12 * MINUTE).map(({ due }) => due), [2])
})

test('the peak is the first of the largest, and there is none if nothing is due', () => {
  assert.equal(peakOf(bucketsOf([minute(1, 0), minute(2, 7), minute(3, 7)], MINUTE))!.start_ms, 2 * MINUTE)
  assert.equal(peakOf(bucketsOf([minute(1, 0)], MINUTE)), null)
})

test('a chart has up to 124 bars', () => {
  assert.equal(bucketSize(60 * MINUTE), MINUTE)
  assert.equal(bucketSize(6 * 60 * MINUTE), 5 * MINUTE)
  assert.equal(bucketSize(24 * 60 * MINUTE), 15 * MINUTE)
  assert.equal(bucketSize(2 * 24 * 60 * MINUTE), 30 * MINUTE)
  assert.equal(bucketSize(30 * 24 * 60 * MINUTE), 360 * MINUTE)
})

test('tomorrow begins at the next midnight of local time', () => {
  const midnight = new Date(localDay(Date.UTC(2027, 2, 27, 20, 30), 1))
  assert.deepEqual([midnight.getHours(), midnight.getMinutes()], [0, 0])
})

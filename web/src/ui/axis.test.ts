import assert from 'node:assert/strict'
import test from 'node:test'

import { markTexts, timeSteps, timeTexts, valueMarks, type Unit } from './axis'

// A user saw the axis "1 1 1 0 0 0" with one message, the rates "10 8 5 3 0", and the same second five times.
const TOPS: Record<Unit, number[]> = {
  count: [0, 1, 2, 3, 7, 11, 99, 1234, 9999, 10_000, 12_345, 250_000, 3_000_000, 123_456_789],
  rate: [0, 0.3, 1, 3, 9.5, 10, 17, 10_000],
  duration: [0, 1, 3, 10, 47, 999, 1000, 1500, 9999, 61_000, 200_000, 3_600_000, 5_000_000, 86_400_000, 200_000_000, 40 * 86_400_000, 900 * 86_400_000],
}

for (const unit of ['count', 'rate', 'duration'] as const) {
  test(`marks of a ${unit} are whole, begin at zero, reach the top, and differ`, () => {
    for (const top of TOPS[unit]) {
      for (const steps of [1, 4, 6]) {
        const marks = valueMarks(unit, top, steps)
        const texts = markTexts(unit, marks)
        const what = `${top} in ${steps}: ${texts.join(' | ')}`
        assert.equal(marks[0], 0, what)
        assert.ok(marks.every(Number.isInteger), what)
        assert.ok(marks.at(-1)! >= top && marks.length >= 2 && marks.length <= steps + 1, what)
        assert.equal(new Set(texts).size, texts.length, what)
        assert.deepEqual(valueMarks(unit, marks.at(-1)!, steps), marks, what)
      }
    }
  })
}

test('marks as people write them', () => {
  const texts = (unit: Unit, top: number) => markTexts(unit, valueMarks(unit, top, 5))
  assert.deepEqual(texts('count', 1), ['0', '1'])
  assert.deepEqual(texts('rate', 10), ['0', '2', '4', '6', '8', '10'])
  assert.deepEqual(texts('count', 10_000), ['0', '2K', '4K', '6K', '8K', '10K'])
  assert.deepEqual(texts('duration', 200_000), ['0', '1 min', '2 min', '3 min', '4 min'])
  assert.deepEqual(texts('duration', 90_000), ['0', '20 sec', '40 sec', '1 min', '1 min 20 sec', '1 min 40 sec'])
})

test('a time axis repeats no text, from seconds to months', () => {
  for (const range of [1, 5, 60, 3600, 6 * 3600, 86_400, 90_000, 2 * 86_400, 3 * 86_400, 7 * 86_400, 30 * 86_400]) {
    for (const width_px of [300, 1000]) {
      const axis = { seconds: range, width_px }
      const step = timeSteps(axis).find((one) => range / one <= 12)!
      const begin = Date.UTC(2026, 0, 10) / 1000
      const texts = timeTexts(Array.from({ length: Math.floor(range / step) }, (_, index) => begin + index * step), axis)
      assert.equal(new Set(texts).size, texts.length, texts.join(' | '))
    }
  }
})

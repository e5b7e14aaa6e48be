// The marks on the axes of a chart. Values begin at zero; the steps are whole and round, so that no two marks have the same
// text. Times step by whole seconds, minutes, hours or days. Pure.
import { formatDate, formatDuration, formatMoment, formatNumber, formatRate, formatShort, formatTime } from './format'

export type Unit = 'count' | 'rate' | 'duration'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

// Beyond these, steps are 1, 2 or 5 times a power of ten: of days for durations.
const DURATION_STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 20 * SECOND, 30 * SECOND, MINUTE, 2 * MINUTE, 5 * MINUTE,
  10 * MINUTE, 20 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR,
]

/** The smallest of 1, 2, 5, 10, 20 … that is at least `least`. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)))
  return power * [1, 2, 5, 10].find((factor) => power * factor >= least)!
}

function stepOf(unit: Unit, least: number): number {
  if (unit !== 'duration') return roundStep(least)
  return DURATION_STEPS.find((step) => step >= least) ?? DAY * roundStep(least / DAY)
}

/** Marks from 0 to the first one that is not below `top`, with up to `steps_max` steps. */
export function valueMarks(unit: Unit, top: number, steps_max: number): number[] {
  const step = stepOf(unit, top / Math.max(1, steps_max))
  const count = Math.max(1, Math.ceil(top / step))
  return Array.from({ length: count + 1 }, (_, index) => index * step)
}

/** The text of one value, as in a tooltip. */
export function valueText(unit: Unit, value: number): string {
  return unit === 'duration' ? formatDuration(value) : unit === 'rate' ? formatRate(value) : formatNumber(value)
}

/** The texts of marks: all of them short if one is. */
export function markTexts(unit: Unit, marks: number[]): string[] {
  const short = (marks.at(-1) ?? 0) >= 10_000
  return marks.map((mark) => (unit === 'duration' && mark > 0 ? formatDuration(mark) : short ? formatShort(mark) : formatNumber(mark)))
}

// A time axis that is narrower than this has dates instead of dates with times.
const NARROW_PX = 400

/** A range of time on an axis of this width. */
export interface TimeRange {
  seconds: number
  width_px: number
}

/** Steps of a time axis, in seconds: never less than a second, and days where the marks are days. */
export function timeSteps(range: TimeRange): number[] {
  if (marksAre(range) === 'days') return [1, 2, 3, 7, 14, 28].map((days) => (days * DAY) / SECOND)
  return [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400]
}

function marksAre({ seconds, width_px }: TimeRange): 'days' | 'moments' | 'times' {
  if (seconds <= 86_400) return 'times'
  return seconds > 3 * 86_400 || width_px < NARROW_PX ? 'days' : 'moments'
}

/** The texts of marks of a time axis, which are seconds since 1970. A time alone says enough within one day only. */
export function timeTexts(marks: number[], range: TimeRange): string[] {
  const kind = marksAre(range)
  const seconds = marks.some((mark) => mark % 60 !== 0)
  return marks.map((mark) => (kind === 'days' ? formatDate(mark * 1000) : kind === 'moments' ? formatMoment(mark * 1000) : formatTime(mark * 1000, seconds)))
}

/** How wide a mark of a time axis is at most, in pixels. */
export function timeSpace(range: TimeRange): number {
  return marksAre(range) === 'moments' ? 120 : 70
}

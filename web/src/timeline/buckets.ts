// The minutes of a forecast, put together for a chart, and the busiest part of a day. Pure.
import type { Forecast } from '../api/openapi'

export type Minute = Omit<Forecast['minutes'][number], 'start'>

export interface Bucket extends Minute {
  end_ms: number
}

const KINDS = ['due', 'scheduled', 'retrying', 'recurring', 'runs'] as const

/** Adds up the rows from `from_ms` to `to_ms`, for each `size_ms` from a multiple of it on. Rows are in order of time. */
export function bucketsOf(rows: Minute[], size_ms: number, from_ms = -Infinity, to_ms = Infinity): Bucket[] {
  const buckets: Bucket[] = []
  for (const row of rows) {
    if (row.start_ms < from_ms || row.start_ms >= to_ms) continue
    const start_ms = Math.floor(row.start_ms / size_ms) * size_ms
    let last = buckets.at(-1)
    if (last?.start_ms !== start_ms) {
      last = { start_ms, end_ms: start_ms + size_ms, due: 0, scheduled: 0, retrying: 0, recurring: 0, runs: 0 }
      buckets.push(last)
    }
    for (const kind of KINDS) last[kind] += row[kind]
    if (row.at_least) last.at_least = true
  }
  return buckets
}

/** The first of the largest; null if nothing is due. */
export function peakOf(buckets: Bucket[]): Bucket | null {
  let peak: Bucket | null = null
  for (const bucket of buckets) {
    if (bucket.due > (peak?.due ?? 0)) peak = bucket
  }
  return peak
}

/** Midnight of local time, `days` after the day of `now_ms`. */
export function localDay(now_ms: number, days: number): number {
  const date = new Date(now_ms)
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + days).getTime()
}

// Each divides a day.
const SIZES_MIN = [1, 5, 15, 30, 60, 180, 360, 1440]
const BUCKETS_MAX = 124

/** A size of buckets that makes up to 124 of a range. */
export function bucketSize(range_ms: number): number {
  const size = SIZES_MIN.find((minutes) => range_ms / (minutes * 60_000) <= BUCKETS_MAX) ?? SIZES_MIN.at(-1)!
  return size * 60_000
}

// What the drawing shows, of the demonstration as well as of the wheel of the server.
import type { Entry, Place, WheelModel } from './model'

export interface Ring {
  level: number
  span: number // ticks of a slot
  current: number // the slot that contains the current time
  counts: ReadonlyMap<number, number> // timers by slot
}

export interface Picture {
  base: number
  now: number
  rings: Ring[]
}

export interface Dot {
  id: number
  place: Place
  index: number
  of: number
  cancelled: boolean
}

export function pictureOf(wheel: WheelModel): Picture {
  const rings = Array.from({ length: wheel.shape.levels }, (_, level) => ({
    level,
    span: wheel.span(level),
    current: wheel.current(level),
    counts: new Map(wheel.usedSlots(level).map((slot) => [slot, wheel.entriesIn(level, slot).filter(counts).length])),
  }))
  return { base: wheel.shape.base, now: wheel.now, rings }
}

/** One for each entry that its timer still needs or that is of a cancelled timer, in the order of timers. */
export function dotsOf(wheel: WheelModel): Dot[] {
  const dots: Dot[] = []
  for (let level = 0; level < wheel.shape.levels; ++level) {
    for (const slot of wheel.usedSlots(level)) {
      const entries = wheel.entriesIn(level, slot).filter((entry) => entry.timer.entry === entry)
      entries.forEach((entry, index) => {
        const { id, deadline } = entry.timer
        dots.push({ id, place: { level, slot }, index, of: entries.length, cancelled: deadline === null })
      })
    }
  }
  return dots.sort((a, b) => a.id - b.id)
}

/** How far a ring reaches: the end of the block after the current one, in ticks. */
export function reach(ring: Ring, base: number): number {
  return (Math.floor(ring.current / base) + 2) * base * ring.span
}

export function total(ring: Ring): number {
  let sum = 0
  for (const count of ring.counts.values()) sum += count
  return sum
}

function counts(entry: Entry): boolean {
  return entry.timer.entry === entry && entry.timer.deadline !== null
}

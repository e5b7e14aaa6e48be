// The core wheel of the server as a pure model: where each timer is stored, when it moves down, when it fires.
//
// It follows timers/include/duewheel/parking_levels.h step by step, so that the picture shows what the server does. Time is a
// count of ticks. With `base` 64, level L has slots of 64^L ticks and keeps two blocks of 64 slots: the one that
// contains the current time, and the next. A timer is on the lowest level whose two blocks include its deadline. The
// slot after the current one of a level gets no new timers; it is moved down ahead of time, a strip at a time, so that
// it is empty when its turn comes. Cancelling a timer, or moving it to a later time, leaves its entry where it is: the
// entry is dropped or filed again when its slot is read.
//
// Example with base 8, at tick 12 (level 0 reaches to 23, level 1 to 127):
//
//     deadline   is on
//          20    level 0, slot 20                 fires at 20
//          30    level 1, slot 3 (24 to 31)       moves to level 0 while the time is in 16 to 23
//         200    level 2, slot 3 (192 to 255)     moves to level 1 in 128 to 191, and to level 0 in 192 to 199
//
// Differences from the server: numbers are doubles (ticks below 2^53), there is no limit on work per call, entries
// that are no longer needed are only removed when their slot is read, and timers are never reused.

export interface Shape {
  base: number // slots in a block: 64 in the server
  levels: number
  strip: number // entries that move at a time: 62 in the server
}

export const SERVER_SHAPE: Shape = { base: 64, levels: 9, strip: 62 }
// Small enough to see each slot.
export const DEMO_SHAPE: Shape = { base: 8, levels: 4, strip: 4 }

export interface Place {
  level: number
  slot: number // slots are counted from tick 0: slot n of level L starts at n * base^L
}

export interface Timer {
  id: number
  deadline: number | null // null after it fired or was cancelled
  entry: Entry | null
}

export interface Entry {
  timer: Timer
  place: Place | null // null: late
}

export type Happening =
  | { kind: 'fired'; timer: Timer; deadline: number; from: Place | null }
  | { kind: 'moved'; timer: Timer; deadline: number; from: Place | null; to: Place }
  | { kind: 'dropped'; timer: Timer; from: Place | null }

// The lowest level whose two blocks include the deadline: a level reaches to the end of the block after the current one.
export function placeAt({ base, levels }: Shape, now: number, deadline: number): Place {
  let level = 0
  for (; level < levels - 1; ++level) {
    const block = base ** (level + 1)
    if (deadline < (Math.floor(now / block) + 2) * block) break
  }
  return { level, slot: Math.floor(deadline / base ** level) }
}

export interface Step {
  at: number // when it gets there, at the earliest
  place: Place
}

// The way of a timer from `place`, where it is at `now`, to level 0. It moves on when the time enters the slot before
// its own; on level 0, where only a timer that was postponed moves on, when its slot is due.
export function route(shape: Shape, now: number, place: Place, deadline: number): Step[] {
  const steps: Step[] = [{ at: now, place }]
  for (let step = steps[0]!; step.place.level > 0 || step.place.slot < deadline; steps.push(step)) {
    const span = shape.base ** step.place.level
    const at = Math.max(step.at, step.place.slot * span - (step.place.level === 0 ? 0 : span))
    step = { at, place: placeAt(shape, at, deadline) }
  }
  return steps
}

interface Slot {
  level: number
  slot: number
  strips: Entry[][]
}

export class WheelModel {
  readonly shape: Shape
  now: number
  pending = 0
  fired = 0
  moves = 0
  private position: number
  private readonly spans: number[] // ticks of a slot of each level
  private readonly slots: Map<number, Slot>[]
  private late: Entry[] = []
  private nextEvent = Infinity
  private nextId = 1

  constructor(shape: Shape, now = 0) {
    this.shape = shape
    this.now = this.position = now
    this.spans = Array.from({ length: shape.levels }, (_, level) => shape.base ** level)
    this.slots = this.spans.map(() => new Map())
  }

  span(level: number): number {
    return this.spans[level]!
  }

  // The slot that contains the current time. Its timers are on lower levels.
  current(level: number): number {
    return Math.floor(this.now / this.span(level))
  }

  // The first slot after the two blocks of a level.
  end(level: number): number {
    return (Math.floor(this.current(level) / this.shape.base) + 2) * this.shape.base
  }

  // The place of a deadline after the current time.
  placeOf(deadline: number): Place {
    return placeAt(this.shape, this.position, deadline)
  }

  add(deadline: number): Timer {
    const timer: Timer = { id: this.nextId++, deadline: null, entry: null }
    this.arm(timer, deadline)
    return timer
  }

  // False if it has fired or was cancelled.
  cancel(timer: Timer): boolean {
    if (timer.deadline === null) return false
    timer.deadline = null
    --this.pending
    return true
  }

  move(timer: Timer, deadline: number): boolean {
    if (timer.deadline === null) return false
    this.arm(timer, deadline)
    return true
  }

  // Advances to `now` and returns what happened, in order.
  advance(now: number): Happening[] {
    if (now < this.nextEvent) {
      this.now = this.position = Math.max(now, this.now)
      return []
    }
    this.now = Math.max(now, this.now)
    const happened: Happening[] = []
    const late = this.late
    this.late = []
    for (const entry of late) this.readEntry(entry, null, happened)
    for (let slot = this.firstSlot(); slot && this.start(slot) <= this.now; slot = this.firstSlot()) {
      // An upper slot is read one tick before it starts, so that its timers fit on a lower level.
      this.position = slot.level === 0 ? this.start(slot) : Math.max(this.position, this.start(slot) - 1)
      this.readStrip(slot, happened)
    }
    this.position = this.now
    this.moveAhead(happened)
    this.nextEvent = this.findNextEvent()
    return happened
  }

  // The earliest deadline; null if no timer is pending.
  nextExpiry(): number | null {
    let first: number | null = null
    for (const { timer } of this.entries()) {
      if (timer.deadline !== null && (first === null || timer.deadline < first)) first = timer.deadline
    }
    return first === null ? null : Math.max(first, this.now)
  }

  // All entries, those that are no longer needed included.
  *entries(): Generator<Entry> {
    for (const level of this.slots) {
      for (const slot of level.values()) {
        for (const strip of slot.strips) yield* strip
      }
    }
    yield* this.late
  }

  entriesIn(level: number, slot: number): Entry[] {
    return this.slots[level]!.get(slot)?.strips.flat() ?? []
  }

  lateEntries(): readonly Entry[] {
    return this.late
  }

  // Used slots of a level, in order of time.
  usedSlots(level: number): number[] {
    return [...this.slots[level]!.keys()].sort((a, b) => a - b)
  }

  private start(slot: Place): number {
    return slot.slot * this.span(slot.level)
  }

  private arm(timer: Timer, deadline: number): void {
    if (timer.deadline === null) ++this.pending
    timer.deadline = deadline
    if (deadline <= this.now) return this.fileLate(timer)
    const entry = timer.entry
    // Parked: the entry is read before the new deadline.
    if (entry && (entry.place === null || this.start(entry.place) <= deadline)) return
    this.file(timer)
  }

  private fileLate(timer: Timer): void {
    if (timer.entry?.place !== null || !timer.entry) {
      timer.entry = { timer, place: null }
      this.late.push(timer.entry)
    }
    this.nextEvent = -Infinity
  }

  private file(timer: Timer): Place {
    const place = this.placeOf(timer.deadline!)
    timer.entry = { timer, place }
    const level = this.slots[place.level]!
    let slot = level.get(place.slot)
    if (!slot) {
      level.set(place.slot, (slot = { ...place, strips: [] }))
      // An upper slot is moved down while the time is in the slot before it.
      const event = place.level === 0 ? this.start(place) : this.start(place) - this.span(place.level)
      this.nextEvent = Math.min(this.nextEvent, event)
    }
    const last = slot.strips.at(-1)
    if (last && last.length < this.shape.strip) last.push(timer.entry)
    else slot.strips.push([timer.entry])
    return place
  }

  private firstOf(level: number): Slot | null {
    let first: Slot | null = null
    for (const slot of this.slots[level]!.values()) {
      if (!first || slot.slot < first.slot) first = slot
    }
    return first
  }

  // The slot that starts first; of two that start together, the upper one.
  private firstSlot(): Slot | null {
    let first: Slot | null = null
    for (let level = 0; level < this.shape.levels; ++level) {
      const slot = this.firstOf(level)
      if (slot && (!first || this.start(slot) <= this.start(first))) first = slot
    }
    return first
  }

  private readStrip(slot: Slot, happened: Happening[]): void {
    const strip = slot.strips.shift()!
    if (slot.strips.length === 0) this.slots[slot.level]!.delete(slot.slot)
    for (const entry of strip) this.readEntry(entry, { level: slot.level, slot: slot.slot }, happened)
  }

  private readEntry(entry: Entry, from: Place | null, happened: Happening[]): void {
    const timer = entry.timer
    const belongs = timer.entry === entry
    if (belongs) timer.entry = null
    if (!belongs || timer.deadline === null) {
      happened.push({ kind: 'dropped', timer, from })
    } else if (timer.deadline <= this.position) {
      const deadline = timer.deadline
      timer.deadline = null
      --this.pending
      ++this.fired
      happened.push({ kind: 'fired', timer, deadline, from })
    } else {
      ++this.moves
      happened.push({ kind: 'moved', timer, deadline: timer.deadline, from, to: this.file(timer) })
    }
  }

  // Moves a share of each upper slot that comes next down, so that nothing is left of it when its first tick comes.
  private moveAhead(happened: Happening[]): void {
    for (let level = 1; level < this.shape.levels; ++level) {
      const slot = this.firstOf(level)
      if (!slot) continue
      const left = this.start(slot) - this.position
      if (left > this.span(level)) continue
      for (let share = Math.floor(slot.strips.length / left) + 1; share > 0 && slot.strips.length > 0; --share) {
        this.readStrip(slot, happened)
      }
    }
  }

  private findNextEvent(): number {
    if (this.late.length > 0) return -Infinity
    let event = Infinity
    for (let level = 0; level < this.shape.levels; ++level) {
      const slot = this.firstOf(level)
      if (!slot) continue
      const start = this.start(slot)
      const left = start - this.position
      const span = this.span(level)
      if (level === 0) event = Math.min(event, start)
      else if (left > span) event = Math.min(event, start - span)
      else event = Math.min(event, this.position + Math.max(1, Math.floor(left / slot.strips.length)))
    }
    return event
  }
}

import assert from 'node:assert/strict'
import test from 'node:test'

import { DEMO_SHAPE, placeAt, route, SERVER_SHAPE, WheelModel, type Happening, type Timer } from './model'

function moments(wheel: WheelModel, timer: Timer, until: number): [string, number, number?][] {
  const seen: [string, number, number?][] = []
  for (let tick = wheel.now + 1; tick <= until; ++tick) {
    for (const happening of wheel.advance(tick)) {
      if (happening.timer !== timer) continue
      seen.push(happening.kind === 'moved' ? ['moved', tick, happening.to.level] : [happening.kind, tick])
    }
  }
  return seen
}

// The example in parking_levels.h, tick by tick.
test('stores and moves timers like the core wheel of the server', () => {
  const wheel = new WheelModel(SERVER_SHAPE, 100)
  const [first, second, third] = [wheel.add(130), wheel.add(300), wheel.add(20_000)]
  assert.deepEqual(first.entry!.place, { level: 0, slot: 130 })
  assert.deepEqual(second.entry!.place, { level: 1, slot: 4 })
  assert.deepEqual(third.entry!.place, { level: 2, slot: 4 })
  assert.deepEqual(moments(wheel, first, 130), [['fired', 130]])
  assert.deepEqual(moments(wheel, second, 300), [['moved', 192, 0], ['fired', 300]])
  assert.deepEqual(moments(wheel, third, 20_000), [['moved', 12_288, 1], ['moved', 19_904, 0], ['fired', 20_000]])
})

test('the example of the file, with eight slots in a block', () => {
  const wheel = new WheelModel(DEMO_SHAPE, 12)
  assert.equal(wheel.end(0), 24)
  assert.equal(wheel.end(1) * 8, 128)
  const timer = wheel.add(200)
  assert.deepEqual(wheel.placeOf(20), { level: 0, slot: 20 })
  assert.deepEqual(wheel.placeOf(30), { level: 1, slot: 3 })
  assert.deepEqual(timer.entry!.place, { level: 2, slot: 3 })
  assert.deepEqual(moments(wheel, timer, 200), [['moved', 128, 1], ['moved', 192, 0], ['fired', 200]])
})

test('a timer that is due at once or earlier fires with the next tick', () => {
  const wheel = new WheelModel(DEMO_SHAPE, 50)
  wheel.add(50)
  wheel.add(3)
  assert.equal(wheel.lateEntries().length, 2)
  assert.deepEqual(wheel.advance(51).map((happening) => happening.kind), ['fired', 'fired'])
  assert.equal(wheel.pending, 0)
})

test('a cancelled timer stays in its slot until the slot is read, and is dropped then', () => {
  const wheel = new WheelModel(DEMO_SHAPE)
  const timer = wheel.add(5)
  assert.equal(wheel.cancel(timer), true)
  assert.equal(wheel.cancel(timer), false)
  assert.equal(wheel.pending, 0)
  assert.equal(wheel.entriesIn(0, 5).length, 1)
  assert.deepEqual(moments(wheel, timer, 20), [['dropped', 5]])
  assert.equal(wheel.entriesIn(0, 5).length, 0)
})

test('a timer that is moved to a later time keeps its entry; moved to an earlier one it gets another', () => {
  const wheel = new WheelModel(DEMO_SHAPE)
  const later = wheel.add(5)
  wheel.move(later, 12)
  assert.deepEqual(later.entry!.place, { level: 0, slot: 5 })
  assert.deepEqual(moments(wheel, later, 12), [['moved', 5, 0], ['fired', 12]])
  const earlier = wheel.add(40)
  wheel.move(earlier, 14)
  assert.deepEqual(earlier.entry!.place, { level: 0, slot: 14 })
  assert.deepEqual(moments(wheel, earlier, 64), [['fired', 14], ['dropped', 32]])
})

test('a full slot moves down a strip at a time while the slot before it passes', () => {
  const wheel = new WheelModel(DEMO_SHAPE)
  for (let number = 0; number < 16; ++number) wheel.add(24)
  const moved: [number, number][] = []
  for (let tick = 1; tick <= 24; ++tick) {
    const happened = wheel.advance(tick)
    if (happened.length > 0) moved.push([tick, happened.length])
  }
  assert.deepEqual(moved, [[16, 4], [18, 4], [21, 4], [24, 4 + 16]])
})

test('the way of a timer is known in advance', () => {
  for (const deadline of [113, 120, 180, 300, 777, 3000]) {
    const wheel = new WheelModel(DEMO_SHAPE, 100)
    const timer = wheel.add(deadline)
    const [first, ...steps] = route(DEMO_SHAPE, 100, timer.entry!.place!, deadline)
    assert.deepEqual(first!.place, placeAt(DEMO_SHAPE, 100, deadline))
    assert.deepEqual(moments(wheel, timer, deadline), [
      ...steps.map((step) => ['moved', step.at, step.place.level]),
      ['fired', deadline],
    ])
  }
})

test('the way of a postponed timer begins in its old slot', () => {
  const wheel = new WheelModel(DEMO_SHAPE)
  const timer = wheel.add(5)
  wheel.move(timer, 140)
  const steps = route(DEMO_SHAPE, 0, timer.entry!.place!, 140)
  assert.deepEqual(steps.map(({ at, place }) => [at, place.level, place.slot]), [[0, 0, 5], [5, 2, 2], [64, 1, 17], [128, 0, 140]])
  assert.deepEqual(moments(wheel, timer, 140), [['moved', 5, 2], ['moved', 64, 1], ['moved', 128, 0], ['fired', 140]])
})

test('a jump over idle time fires everything in order, at most one move a level', () => {
  const wheel = new WheelModel(DEMO_SHAPE)
  const deadlines = [3, 70, 71, 500, 513, 2000, 4095]
  deadlines.forEach((deadline) => wheel.add(deadline))
  const happened = wheel.advance(5000)
  assert.deepEqual(happened.filter((one) => one.kind === 'fired').map((one) => one.deadline), deadlines)
  assert.ok(wheel.moves <= deadlines.length * 3)
  assert.equal(wheel.nextExpiry(), null)
})

// Every operation at random, against a plain list of deadlines.
test('fires each timer at its deadline, never early, however it was moved', () => {
  for (const shape of [DEMO_SHAPE, { base: 4, levels: 6, strip: 2 }, SERVER_SHAPE]) {
    let seed = 12345
    const random = (limit: number): number => {
      seed = (seed * 1103515245 + 12345) % 2147483648
      return Math.floor((seed / 2147483648) * limit)
    }
    const wheel = new WheelModel(shape, random(100_000))
    const expected = new Map<Timer, number>()
    for (let round = 0; round < 20_000; ++round) {
      const timers = [...expected.keys()]
      const some = timers[random(Math.max(timers.length, 1))]
      const due = wheel.now + Math.floor(shape.base ** (random(350) / 100))
      const what = random(10)
      if (what < 5 || !some) {
        expected.set(wheel.add(due), due)
      } else if (what < 6) {
        wheel.cancel(some)
        expected.delete(some)
      } else if (what < 8) {
        wheel.move(some, due)
        expected.set(some, due)
      } else {
        const before = wheel.now
        const now = before + random(what === 8 ? 2 : shape.base * 3)
        const fired = wheel.advance(now).filter((one): one is Happening & { kind: 'fired' } => one.kind === 'fired')
        for (const { timer, deadline } of fired) {
          assert.equal(expected.get(timer), deadline, `seed 12345, round ${round}`)
          assert.ok(deadline <= now)
          expected.delete(timer)
        }
        for (const deadline of expected.values()) assert.ok(deadline > now, `a timer is late in round ${round}`)
        for (const entry of wheel.entries()) checkEntry(wheel, entry)
      }
      assert.equal(wheel.pending, expected.size)
    }
  }
})

function checkEntry(wheel: WheelModel, { timer, place }: ReturnType<WheelModel['entries']> extends Generator<infer E> ? E : never): void {
  if (place === null || timer.entry?.place !== place) return
  const start = place.slot * wheel.span(place.level)
  assert.ok(start > wheel.now && place.slot < wheel.end(place.level), 'a slot is ahead, in this block or the next')
  if (timer.deadline !== null) assert.ok(timer.deadline >= start)
}

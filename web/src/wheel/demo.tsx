// The demonstration: a small wheel with its own timers and its own time.
import { useEffect, useRef, useState } from 'preact/hooks'
import { Button, Field, Figure, Figures, Section } from '../ui/parts'
import { formatNumber } from '../ui/format'
import { addedCaption, captionsOf } from './captions'
import { WheelDrawing, WheelLegend, WheelTable, type Trail } from './drawing'
import { DEMO_SHAPE, route, WheelModel, type Happening, type Timer } from './model'
import { dotsOf, pictureOf, total } from './picture'
import { t } from './text'

const SPEEDS = [1, 4, 16, 64]
const START = 100
// The first one is followed: it is on each of the lower levels within 100 ticks.
const FIRST_DELAYS = [100, 5, 11, 26, 40, 62, 150, 262, 420, 900, 1900, 3300]
const DELAY_MAX = 4000
const LOAD_TIMERS_MAX = 200
const POSTPONE = 40
const LINES_MAX = 40
const TRAILS_MAX = 16

interface Line {
  key: number
  tick: number
  say: () => string
}

interface Demo {
  wheel: WheelModel
  timers: Map<number, Timer>
  lines: Line[]
  trails: Trail[]
  cancelled: Set<number>
}

function newDemo(): Demo {
  const demo: Demo = { wheel: new WheelModel(DEMO_SHAPE, START), timers: new Map(), lines: [], trails: [], cancelled: new Set() }
  for (const delay of FIRST_DELAYS) add(demo, delay)
  demo.lines = demo.lines.slice(-1)
  return demo
}

let nextLine = 0

function note(demo: Demo, say: () => string) {
  demo.lines = [{ key: nextLine++, tick: demo.wheel.now, say }, ...demo.lines].slice(0, LINES_MAX)
}

function add(demo: Demo, delay: number): Timer {
  const timer = demo.wheel.add(demo.wheel.now + delay)
  demo.timers.set(timer.id, timer)
  note(demo, addedCaption(demo.wheel, timer))
  return timer
}

function advance(demo: Demo, now: number, followed: number | null) {
  const happened = demo.wheel.advance(now)
  for (const [index] of captionsOf(happened).entries()) note(demo, () => captionsOf(happened)[index]!)
  demo.trails = happened.length > TRAILS_MAX ? [] : happened.flatMap(trailOf)
  for (const { kind, timer } of happened) {
    if (kind !== 'moved' && timer.id !== followed) demo.timers.delete(timer.id)
  }
}

function trailOf(one: Happening): Trail[] {
  if (!one.from || one.kind === 'dropped') return []
  return [{ id: one.timer.id, from: one.from, to: one.kind === 'moved' ? one.to : null }]
}

function reducedMotion(): boolean {
  return window.matchMedia('(prefers-reduced-motion: reduce)').matches
}

export function WheelDemo() {
  const demo = useRef<Demo | null>(null)
  demo.current ??= newDemo()
  const { wheel, timers, lines, trails } = demo.current
  const [, setVersion] = useState(0)
  const [playing, setPlaying] = useState(() => !reducedMotion())
  const [speed, setSpeed] = useState(4)
  const [load, setLoad] = useState(false)
  const [delay, setDelay] = useState('100')
  const [followed, setFollowed] = useState<number | null>(1)
  const redraw = () => setVersion((version) => version + 1)

  const tick = () => {
    if (load && wheel.pending < LOAD_TIMERS_MAX && Math.random() < 0.35) add(demo.current!, Math.ceil(DELAY_MAX ** Math.random()))
    advance(demo.current!, wheel.now + 1, followed)
    redraw()
  }
  const skip = () => {
    const next = wheel.nextExpiry()
    if (next === null) return
    advance(demo.current!, Math.max(next, wheel.now + 1), followed)
    redraw()
  }
  const addTimer = (ticks: number) => {
    setFollowed(add(demo.current!, ticks).id)
    redraw()
  }

  const actions = useRef({ tick, skip })
  actions.current = { tick, skip }
  useEffect(() => {
    if (!playing) return undefined
    const timer = window.setInterval(() => {
      if (document.visibilityState === 'visible') actions.current.tick()
    }, 1000 / speed)
    return () => window.clearInterval(timer)
  }, [playing, speed])

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      if (target.closest('input, select, textarea, button, a, summary, dialog')) return
      if (event.key === ' ') setPlaying((before) => !before)
      else if (event.key === 'ArrowRight') actions.current.tick()
      else if (event.key === 'e') actions.current.skip()
      else return
      event.preventDefault()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])

  const picture = pictureOf(wheel)
  const timer = followed === null ? null : (timers.get(followed) ?? null)
  const number = Number(delay)
  const valid = Number.isInteger(number) && number >= 1 && number <= DELAY_MAX
  const levels = picture.rings.map((ring) => t.summaryLevel(ring.level, total(ring))).join(' ')

  return (
    <>
      <div class="wheel-page">
        <figure class={`wheel-figure${speed > 4 && playing ? ' fast' : ''}`}>
          <WheelDrawing
            picture={picture} dots={dotsOf(wheel)} trails={trails} followed={followed} center={[t.tick, formatNumber(wheel.now)]}
            summary={t.summary(`${t.tick} ${wheel.now}`, wheel.pending, levels)}
            slotTitle={(level, slot, count) => t.slotTitle(level, formatNumber(slot * wheel.span(level)), formatNumber((slot + 1) * wheel.span(level) - 1), count)}
            onSlot={(level, slot) => {
              const from = Math.max(slot * wheel.span(level), wheel.now + 1)
              addTimer(from + Math.floor(Math.random() * ((slot + 1) * wheel.span(level) - from)) - wheel.now)
            }}
            onDot={setFollowed}
          />
          <WheelLegend picture={picture} span={t.ticks} />
          <div class="wheel-controls">
            <Button kind="primary" onClick={() => setPlaying(!playing)}>{playing ? t.pause : t.play}</Button>
            <Button onClick={tick} disabled={playing}>{t.step}</Button>
            <Button onClick={skip} disabled={wheel.pending === 0}>{t.skip}</Button>
            <label class="wheel-speed">
              <span>{t.speed}</span>
              <select value={speed} onChange={(event) => setSpeed(Number(event.currentTarget.value))}>
                {SPEEDS.map((choice) => <option key={choice} value={choice}>{t.perSecond(choice)}</option>)}
              </select>
            </label>
            <label class="check">
              <input type="checkbox" checked={load} onChange={(event) => setLoad(event.currentTarget.checked)} /> {t.load}
            </label>
            <Button
              onClick={() => {
                demo.current = newDemo()
                setFollowed(1)
                redraw()
              }}
            >
              {t.restart}
            </Button>
          </div>
          <p class="muted wheel-keys">{t.keys}</p>
        </figure>
        <div class="wheel-side">
          <Figures>
            <Figure name={t.pendingNow} value={formatNumber(wheel.pending)} />
            <Figure name={t.firedSoFar} value={formatNumber(wheel.fired)} />
            <Figure name={t.movesSoFar} value={formatNumber(wheel.moves)} />
          </Figures>
          <form
            class="wheel-add"
            onSubmit={(event) => {
              event.preventDefault()
              if (valid) addTimer(number)
            }}
          >
            <Field id="wheel-delay" label={t.delay} hint={t.delayHint(DELAY_MAX)}>
              {(id) => (
                <input
                  id={id} type="number" min="1" max={DELAY_MAX} value={delay} aria-describedby={`${id}-hint`}
                  onInput={(event) => setDelay(event.currentTarget.value)}
                />
              )}
            </Field>
            <Button type="submit" disabled={!valid}>{t.add}</Button>
          </form>
          <Section title={t.follow}>
            <label class="wheel-choose">
              <span class="hidden">{t.choose}</span>
              <select value={followed ?? ''} onChange={(event) => setFollowed(Number(event.currentTarget.value) || null)}>
                <option value="">{t.followNone}</option>
                {[...timers.values()].map((one) => (
                  <option key={one.id} value={one.id}>{one.deadline === null ? t.timerName(one.id) : t.option(one.id, one.deadline)}</option>
                ))}
              </select>
            </label>
            {timer && (
              <Followed
                wheel={wheel} timer={timer} cancelled={demo.current.cancelled.has(timer.id)}
                onCancel={() => {
                  if (wheel.cancel(timer)) note(demo.current!, () => t.cancelled(timer.id))
                  demo.current!.cancelled.add(timer.id)
                  redraw()
                }}
                onPostpone={() => {
                  const deadline = timer.deadline! + POSTPONE
                  if (wheel.move(timer, deadline)) note(demo.current!, () => t.postponed(timer.id, deadline))
                  redraw()
                }}
              />
            )}
          </Section>
        </div>
        <Section title={t.happened} class="wheel-happened">
          {lines.length === 0 && <p class="muted">{t.nothingYet}</p>}
          <ol class="wheel-lines" aria-live={playing ? 'off' : 'polite'} tabIndex={0} aria-label={t.happened}>
            {lines.map((line) => (
              <li key={line.key}><span class="wheel-tick">{formatNumber(line.tick)}</span> <span>{line.say()}</span></li>
            ))}
          </ol>
        </Section>
      </div>
      <details class="wheel-details">
        <summary>{t.asTable}</summary>
        <WheelTable picture={picture} span={t.ticks} instant={formatNumber} />
      </details>
    </>
  )
}

interface FollowedProps {
  wheel: WheelModel
  timer: Timer
  cancelled: boolean
  onCancel: () => void
  onPostpone: () => void
}

function Followed({ wheel, timer, cancelled, onCancel, onPostpone }: FollowedProps) {
  const { deadline, entry } = timer
  const place = entry?.place
  const steps = deadline !== null && place ? route(wheel.shape, wheel.now, place, deadline) : []
  if (deadline === null) return <p>{!cancelled ? t.hasFired : entry ? t.wasCancelled : t.isGone}</p>
  const range = (level: number, slot: number) => [slot * wheel.span(level), (slot + 1) * wheel.span(level) - 1] as const
  const parked = place && deadline >= (place.slot + 1) * wheel.span(place.level)
  return (
    <>
      <p>{t.dueIn(deadline, Math.max(0, deadline - wheel.now))} {!place && t.late} {parked && t.parked}</p>
      <ol class="wheel-route">
        {steps.map(({ at, place: { level, slot } }, index) => (
          <li key={index} class={index === 0 ? 'now' : ''}>
            <span class={`swatch level-${level}`} aria-hidden="true" />
            {index === 0 ? t.stepStart(level, ...range(level, slot)) : t.stepMove(at, level, ...range(level, slot))}
          </li>
        ))}
        {place && <li><span class="swatch fires" aria-hidden="true" />{t.stepFire(deadline)}</li>}
      </ol>
      <p class="wheel-timer-actions">
        <Button onClick={onPostpone}>{t.postpone(POSTPONE)}</Button>
        <Button onClick={onCancel}>{t.cancelTimer}</Button>
      </p>
    </>
  )
}

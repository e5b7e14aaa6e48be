// The wheel of the server, from `GET /v1/wheel`, and a message of it that can be followed.
import { useState } from 'preact/hooks'
import { get, inNamespace } from '../api/client'
import type { Message, Wheel } from '../api/openapi'
import { useQuery } from '../api/query'
import { terms } from '../i18n/terms'
import { formatDuration, formatInstant, formatNumber, formatRelative, formatTime } from '../ui/format'
import { Button, Field, Figure, Figures, Section } from '../ui/parts'
import { Pending } from '../ui/table'
import { WheelDrawing, WheelLegend, WheelTable } from './drawing'
import { placeAt, route, type Place, type Shape } from './model'
import { total, type Picture } from './picture'
import { t } from './text'

// Levels up to that one are shown even if they are empty: its slots are 4.7 hours wide.
const LEVELS_MIN = 5

function pictureOf(wheel: Wheel): Picture {
  const base = (wheel.levels[0]?.slots ?? 128) / 2
  const used = Math.max(LEVELS_MIN - 1, ...wheel.levels.filter((level) => level.counts.length > 0).map((level) => level.level))
  const rings = Array.from({ length: used + 1 }, (_, level) => {
    const span = base ** level
    const found = wheel.levels.find((one) => one.level === level)
    const now = wheel.now_ms / wheel.tick_ms
    return { level, span, current: found?.position ?? Math.floor(now / span), counts: new Map(found?.counts ?? []) }
  })
  return { base, now: wheel.now_ms / wheel.tick_ms, rings }
}

export function LiveWheel() {
  const query = useQuery(['wheel'], (signal) => get<Wheel>('/v1/wheel', {}, signal), { every_ms: 1000 })
  const [id, setId] = useState('')
  const [following, setFollowing] = useState<string | null>(null)
  const message = useQuery(
    ['wheel message', following],
    (signal) => get<Message>(inNamespace('messages', following ?? ''), {}, signal),
    { every_ms: 5000, skip: following === null },
  )
  if (!query.data) return <Pending query={query} />
  const wheel = query.data
  const picture = pictureOf(wheel)
  const shape: Shape = { base: picture.base, levels: 9, strip: 62 }
  const now = picture.now
  const waits = message.data && ['scheduled', 'retrying'].includes(message.data.state) && message.data.due_ms > wheel.now_ms
  const place = waits ? placeAt(shape, now, message.data!.due_ms / wheel.tick_ms) : null
  const levels = picture.rings.map((ring) => t.summaryLevel(ring.level, total(ring))).join(' ')
  const at = (tick: number) => formatInstant(tick * wheel.tick_ms)
  const width = (ticks: number) => formatDuration(ticks * wheel.tick_ms)

  return (
    <>
      <div class="wheel-page">
        <figure class="wheel-figure fast">
          <WheelDrawing
            picture={picture} marked={place} center={[t.serverTime, formatTime(wheel.now_ms)]}
            summary={t.summary(formatInstant(wheel.now_ms), wheel.timers, levels)}
            slotTitle={(level, slot, count) => {
              const span = picture.base ** level
              return t.slotTitle(level, at(slot * span), at((slot + 1) * span - 1), count)
            }}
          />
          <WheelLegend picture={picture} span={width} />
        </figure>
        <div class="wheel-side">
          <Figures>
            <Figure name={t.inMemory} value={formatNumber(wheel.timers)} />
            <Figure name={t.lateNow} value={formatNumber(wheel.late)} />
            <Figure name={t.onlyIndexed} value={formatNumber(wheel.indexed_only)} hint={t.onlyIndexedHint} />
          </Figures>
          {wheel.timers === 0 && <p class="muted">{t.empty}</p>}
          <p class="muted">{t.liveAbout(picture.base)}</p>
          <Section title={t.followMessage}>
            <form
              class="wheel-add"
              onSubmit={(event) => {
                event.preventDefault()
                setFollowing(id.trim() || null)
              }}
            >
              <Field id="wheel-message" label={t.followId}>
                {(input) => (
                  <input
                    id={input} inputMode="numeric" autocomplete="off" pattern="[0-9]*" value={id}
                    onInput={(event) => setId(event.currentTarget.value)}
                  />
                )}
              </Field>
              <Button type="submit">{t.followButton}</Button>
            </form>
            {following !== null && <Pending query={message} />}
            {message.data && (waits
              ? <FollowedMessage shape={shape} now={now} tick_ms={wheel.tick_ms} place={place!} due_ms={message.data.due_ms} />
              : <p>{t.followDone(terms[message.data.state])}</p>)}
          </Section>
        </div>
      </div>
      <details class="wheel-details">
        <summary>{t.asTable}</summary>
        <WheelTable picture={picture} span={width} instant={at} />
      </details>
    </>
  )
}

interface FollowedProps {
  shape: Shape
  now: number
  tick_ms: number
  place: Place
  due_ms: number
}

function FollowedMessage({ shape, now, tick_ms, place, due_ms }: FollowedProps) {
  const steps = route(shape, now, place, due_ms / tick_ms)
  const at = (tick: number) => formatInstant(tick * tick_ms)
  return (
    <>
      <p>{t.followDue(formatInstant(due_ms), formatRelative(due_ms, now * tick_ms))}</p>
      <ol class="wheel-route">
        {steps.map((step, index) => {
          const span = shape.base ** step.place.level
          return (
            <li key={index} class={index === 0 ? 'now' : ''}>
              <span class={`swatch level-${step.place.level}`} aria-hidden="true" />
              {index === 0
                ? t.followOn(step.place.level, at(step.place.slot * span), at((step.place.slot + 1) * span - 1))
                : t.followMove(at(step.at), step.place.level)}
            </li>
          )
        })}
        <li><span class="swatch fires" aria-hidden="true" />{t.followFire(at(due_ms / tick_ms))}</li>
      </ol>
      <p class="muted">{t.followPlaceNote}</p>
    </>
  )
}

// An instant: local time, with UTC in the tooltip, and on request how far away it is.
import { signal } from '@preact/signals'
import { serverNow } from '../api/live'
import { formatInstant, formatRelative, utc } from './format'

/** Ticks once a second, so that relative times move. */
const second = signal(0)
window.setInterval(() => {
  if (document.visibilityState === 'visible') second.value += 1
}, 1000)

export function now(): number {
  void second.value
  return serverNow()
}

export function Instant({ ms, relative = false }: { ms: number; relative?: boolean }) {
  const text = utc(ms)
  return (
    <time dateTime={text} title={text}>
      <span class="line">{formatInstant(ms)}</span>
      {relative && <> <span class="muted line">{formatRelative(ms, now())}</span></>}
    </time>
  )
}

/** Only how far away it is; the instant is in the tooltip. */
export function Relative({ ms }: { ms: number }) {
  return (
    <time dateTime={utc(ms)} title={`${formatInstant(ms)} · ${utc(ms)}`}>
      {formatRelative(ms, now())}
    </time>
  )
}

// Numbers, sizes, durations and instants as text, in the language of the interface.
import { language, locale } from '../i18n/language'

const formats = new Map<string, unknown>()

function cached<T>(name: string, make: (tag: string) => T): T {
  const key = `${language.value} ${name}`
  if (!formats.has(key)) formats.set(key, make(locale()))
  return formats.get(key) as T
}

export function formatNumber(value: number, digits = 0): string {
  return cached(`number ${digits}`, (tag) => new Intl.NumberFormat(tag, { maximumFractionDigits: digits })).format(value)
}

/** Short, for places that are narrow: 12.3K. */
export function formatCompact(value: number): string {
  return Math.abs(value) < 10_000 ? formatNumber(value) : formatShort(value)
}

/** As short as the language has it: 5K, 12.3K. */
export function formatShort(value: number): string {
  return cached('compact', (tag) => new Intl.NumberFormat(tag, { notation: 'compact', maximumFractionDigits: 1 })).format(value)
}

/** A rate: below ten with one decimal. */
export function formatRate(value: number): string {
  return formatNumber(value, value < 10 ? 1 : 0)
}

export function formatPercent(fraction: number): string {
  return cached('percent', (tag) => new Intl.NumberFormat(tag, { style: 'percent', maximumFractionDigits: 1 })).format(fraction)
}

const BINARY = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

export function formatBytes(value: number): string {
  let size = value
  let unit = 0
  while (size >= 1024 && unit < BINARY.length - 1) {
    size /= 1024
    unit += 1
  }
  return `${formatNumber(size, size < 10 && unit > 0 ? 1 : 0)} ${BINARY[unit]}`
}

type Unit = 'day' | 'hour' | 'minute' | 'second' | 'millisecond'
const UNITS: [Unit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
  ['millisecond', 1],
]

function inUnit(value: number, unit: Unit, digits = 0): string {
  return cached(`${unit} ${digits}`, (tag) =>
    new Intl.NumberFormat(tag, { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: digits }),
  ).format(value)
}

/** The two largest units, or one: 2 days 3 hr; 1.5 sec; 12 ms. */
export function formatDuration(ms: number, units: 1 | 2 = 2): string {
  if (ms < 0) return `−${formatDuration(-ms, units)}`
  if (ms < 1000) return inUnit(Math.round(ms), 'millisecond')
  if (ms < 60_000) return inUnit(ms / 1000, 'second', ms < 10_000 ? 1 : 0)
  for (const [index, [unit, size]] of UNITS.entries()) {
    if (ms < size) continue
    const [smaller, smallerSize] = UNITS[index + 1]!
    const whole = Math.floor(ms / size)
    const remainder = Math.floor((ms - whole * size) / smallerSize)
    const text = inUnit(whole, unit)
    return units === 2 && remainder > 0 && whole < 100 ? `${text} ${inUnit(remainder, smaller)}` : text
  }
  return inUnit(ms, 'millisecond')
}

/** The exact duration as the API writes it, for fields that are edited: 1d2h, 90s, 1500ms. */
export function durationText(ms: number): string {
  const units: [string, number][] = [['d', 86_400_000], ['h', 3_600_000], ['m', 60_000], ['s', 1000], ['ms', 1]]
  let left = ms
  let text = ''
  for (const [name, size] of units) {
    const count = Math.floor(left / size)
    if (count > 0) text += `${count}${name}`
    left -= count * size
  }
  return text || '0s'
}

const DATE_MAX_MS = 8.64e15

/** Whether the browser's calendar reaches this instant. */
function representable(ms: number): boolean {
  return Number.isFinite(ms) && Math.abs(ms) <= DATE_MAX_MS
}

/** Local time with seconds. The year is shown unless it is the present one; milliseconds when they are not zero. */
export function formatInstant(ms: number): string {
  if (!representable(ms)) return `${ms} ms`
  const date = new Date(ms)
  const year = date.getFullYear() !== new Date().getFullYear()
  const fraction = ms % 1000 !== 0
  return cached(`instant ${year} ${fraction}`, (tag) =>
    new Intl.DateTimeFormat(tag, {
      ...(year ? { year: 'numeric' as const, ...(date.getFullYear() < 1 ? { era: 'short' as const } : {}) } : {}),
      month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit',
      ...(fraction ? { fractionalSecondDigits: 3 as const } : {}), hourCycle: 'h23',
    }),
  ).format(date)
}

/** The time of the day, for axes and log lines. */
export function formatTime(ms: number, seconds = true): string {
  if (!representable(ms)) return `${ms} ms`
  return cached(`time ${seconds}`, (tag) =>
    new Intl.DateTimeFormat(tag, { hour: '2-digit', minute: '2-digit', ...(seconds ? { second: '2-digit' as const } : {}), hourCycle: 'h23' }),
  ).format(new Date(ms))
}

/** The day and the time without seconds, for axes. */
export function formatMoment(ms: number): string {
  if (!representable(ms)) return `${ms} ms`
  return cached('moment', (tag) =>
    new Intl.DateTimeFormat(tag, { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
  ).format(new Date(ms))
}

/** The day, for axes. */
export function formatDate(ms: number): string {
  if (!representable(ms)) return `${ms} ms`
  return cached('date', (tag) => new Intl.DateTimeFormat(tag, { month: 'short', day: 'numeric' })).format(new Date(ms))
}

/** UTC as in RFC 3339, for tooltips and machine-readable attributes. */
export function utc(ms: number): string {
  return representable(ms) ? new Date(ms).toISOString() : `${ms} ms`
}

/** "in 5 min", "3 hr ago". */
export function formatRelative(ms: number, now_ms: number): string {
  const distance = ms - now_ms
  const size = Math.abs(distance)
  const [unit, length] = UNITS.slice(0, 4).find(([, unitLength]) => size >= unitLength) ?? UNITS[3]!
  const format = cached('relative', (tag) => new Intl.RelativeTimeFormat(tag, { numeric: 'auto', style: 'short' }))
  // Beyond a century, a number of days says nothing.
  if (unit === 'day' && size > 36_525 * 86_400_000) return format.format(Math.round(distance / (365.25 * 86_400_000)), 'year')
  return format.format(Math.trunc(distance / length), unit as Intl.RelativeTimeFormatUnit)
}

/** What was typed as a number; text that is none stays text, so that the server explains what is wrong with it. */
export function numberOf(text: string): number | string {
  const trimmed = text.trim()
  return /^-?\d{1,15}$/.test(trimmed) ? Number(trimmed) : trimmed
}

/** The value of an input of type `datetime-local` for an instant, and the other way round: undefined if it is empty. */
export function toLocalInput(ms: number): string {
  const date = new Date(ms)
  return new Date(ms - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

export function fromLocalInput(text: string): string | undefined {
  const date = new Date(text)
  return text === '' || Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

// Reads a cron expression as docs/calendar.md describes it, to say it in words. The server decides whether a rule is valid;
// what is not understood here is shown as it is written.

export type Item =
  | { kind: 'all'; step: number }
  | { kind: 'values'; from: number; to: number; step: number }
  // Items of days: `L`, `L-3`, `15W`, `LW`, `L-3W`.
  | { kind: 'last'; before: number; working: boolean }
  | { kind: 'nearest'; day: number }
  // Items of weekdays: `FRIL`, `FRI#2`, `MON-FRI#2`, `FRI#L`; nth 0 is the last.
  | { kind: 'nth'; from: number; to: number; nth: number }

export interface Field {
  items: Item[]
  /** Matches everything: `*` or `?`. */
  all: boolean
  /** Begins with a star: then day and weekday must both match. */
  star: boolean
}

export interface Cron {
  second: Field
  minute: Field
  hour: Field
  day: Field
  month: Field
  weekday: Field // Sunday is 0
  year: Field
}

const NICKNAMES: Record<string, string> = {
  '@yearly': '0 0 1 1 *', '@annually': '0 0 1 1 *', '@monthly': '0 0 1 * *', '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *', '@midnight': '0 0 * * *', '@hourly': '0 * * * *',
}
const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

type Value = (text: string) => number | null

function numbers(low: number, high: number): Value {
  return (text) => (/^\d+$/.test(text) && Number(text) >= low && Number(text) <= high ? Number(text) : null)
}

function named(names: string[], first: number, value: Value): Value {
  return (text) => {
    const index = names.indexOf(text)
    return index < 0 ? value(text) : index + first
  }
}

/** Null if it is not understood. */
export function parseCron(rule: string): Cron | null {
  const text = rule.trim().toUpperCase()
  const fields = (NICKNAMES[text.toLowerCase()] ?? text).split(/\s+/)
  if (fields.length < 5 || fields.length > 7) return null
  const marks = fields.filter((field) => field === '?').length
  const quartz = marks === 1
  if (marks > 1 || (quartz ? fields.length === 5 : fields.length === 7)) return null
  if (fields.length === 5) fields.unshift('0')
  if (fields.length === 6) fields.push('*')
  const weekday = quartz ? named(WEEKDAYS, 1, numbers(1, 7)) : named(WEEKDAYS, 0, numbers(0, 7))
  const values: [keyof Cron, Value, number, number][] = [
    ['second', numbers(0, 59), 0, 59], ['minute', numbers(0, 59), 0, 59], ['hour', numbers(0, 23), 0, 23], ['day', numbers(1, 31), 1, 31],
    ['month', named(MONTHS, 1, numbers(1, 12)), 1, 12], ['weekday', weekday, quartz ? 1 : 0, quartz ? 7 : 6], ['year', numbers(1970, 2199), 1970, 2199],
  ]
  const cron: Partial<Cron> = {}
  for (const [index, [name, value, low, high]] of values.entries()) {
    const field = parseField(fields[index]!, name, value, low, high)
    if (!field) return null
    cron[name] = field
  }
  if (quartz) cron.weekday!.items = cron.weekday!.items.map((item) => shifted(item, -1))
  return cron as Cron
}

function shifted(item: Item, by: number): Item {
  return item.kind === 'values' || item.kind === 'nth' ? { ...item, from: item.from + by, to: item.to + by } : item
}

function parseField(text: string, name: keyof Cron, value: Value, low: number, high: number): Field | null {
  const items: Item[] = []
  for (const part of text.split(',')) {
    const item = part === '?' ? { kind: 'all' as const, step: 1 } : (special(part, name, value) ?? plain(part, value, low, high))
    if (!item) return null
    items.push(item)
  }
  return { items, all: items.some((item) => item.kind === 'all' && item.step === 1), star: text.startsWith('*') }
}

function special(part: string, name: keyof Cron, value: Value): Item | null {
  if (name === 'day') {
    const last = /^L(?:-(\d+))?(W)?$/.exec(part)
    if (last) return { kind: 'last', before: Number(last[1] ?? 0), working: last[2] !== undefined }
    const nearest = /^(\d+)W$/.exec(part)
    return nearest ? { kind: 'nearest', day: Number(nearest[1]) } : null
  }
  if (name !== 'weekday') return null
  if (part === 'L') return { kind: 'values', from: 7, to: 7, step: 1 }
  const nth = /^([^#-]+)(?:-([^#]+))?#([1-5L])$/.exec(part) ?? /^([^L#-]+|[A-Z]{3})()L$/.exec(part)
  if (!nth) return null
  const from = value(nth[1]!)
  const to = nth[2] ? value(nth[2]) : from
  if (from === null || to === null) return null
  return { kind: 'nth', from, to, nth: nth[3] === undefined || nth[3] === 'L' ? 0 : Number(nth[3]) }
}

function plain(part: string, value: Value, low: number, high: number): Item | null {
  const [range, stepText, ...more] = part.split('/')
  const step = stepText === undefined ? 1 : Number(stepText)
  if (more.length > 0 || !Number.isInteger(step) || step < 1) return null
  if (range === '*' || (range === '' && stepText !== undefined)) {
    return step === 1 ? { kind: 'all', step: 1 } : { kind: 'values', from: low, to: high, step }
  }
  const [fromText, toText] = range!.split('-')
  const from = value(fromText!)
  const to = toText === undefined ? (stepText === undefined ? from : high) : value(toText)
  if (from === null || to === null) return null
  return { kind: 'values', from, to, step }
}

/** The values of a field without special items, in order; null if it has some. A range may wrap around. */
export function valuesOf(field: Field, low: number, high: number): number[] | null {
  const values = new Set<number>()
  const size = high - low + 1
  for (const item of field.items) {
    if (item.kind === 'all') {
      for (let value = low; value <= high; value += item.step) values.add(value)
    } else if (item.kind === 'values') {
      const length = ((item.to - item.from + size) % size) + 1
      // A whole field, such as 0-59 or */5.
      const count = item.to - item.from + 1 === size ? size : length
      for (let offset = 0; offset < count; offset += item.step) values.add(low + ((item.from - low + offset) % size))
    } else {
      return null
    }
  }
  return [...values].sort((a, b) => a - b)
}

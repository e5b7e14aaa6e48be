// A schedule's rule in words: `30 2 * * MON-FRI` is "at 02:30, Monday to Friday". Pure: the language is an argument.
import type { ScheduleSettings } from '../api/openapi'
import { parseCron, valuesOf, type Cron, type Field, type Item } from './cron'

export type Language = 'en' | 'zh'

export type Rule = Pick<ScheduleSettings, 'cron' | 'every_ms' | 'iso' | 'at'>

/** The rule in words; null if it is not understood. Without zone, closed days and bounds. */
export function ruleWords(rule: Rule, language: Language): string | null {
  if (rule.cron !== undefined) return cronWords(rule.cron, language)
  if (rule.every_ms !== undefined) return everyWords(rule.every_ms, language)
  if (rule.iso !== undefined) return isoWords(rule.iso, language)
  if (rule.at !== undefined) return language === 'zh' ? `一次，${clockText(rule.at)}` : `Once, at ${clockText(rule.at)}`
  return null
}

// ---- words that both kinds of rules use

function list(words: string[], language: Language): string {
  return new Intl.ListFormat(language === 'zh' ? 'zh-CN' : 'en-GB', { type: 'conjunction' }).format(words)
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function ordinal(value: number): string {
  const suffix = { one: 'st', two: 'nd', few: 'rd', other: 'th' } as Record<string, string>
  return `${value}${suffix[new Intl.PluralRules('en', { type: 'ordinal' }).select(value)]}`
}

// 2027-01-01T06:00:00+01:00 with a space instead of the T.
function clockText(text: string): string {
  return text.replace(/^(\d{4}-\d{2}-\d{2})T/, '$1 ')
}

const UNITS: [string, string, number][] = [
  ['day', '天', 86_400_000], ['hour', '小时', 3_600_000], ['minute', '分钟', 60_000], ['second', '秒', 1000], ['millisecond', '毫秒', 1],
]

function everyWords(ms: number, language: Language): string {
  const parts: { count: number; en: string; zh: string }[] = []
  let left = ms
  for (const [en, zh, size] of UNITS) {
    const count = Math.floor(left / size)
    if (count > 0) parts.push({ count, en, zh })
    left -= count * size
  }
  return everyParts(parts, language)
}

function everyParts(parts: { count: number; en: string; zh: string }[], language: Language): string {
  const [first] = parts
  if (language === 'zh') {
    if (parts.length === 1 && first!.count === 1) return `每${first!.zh.replace(/^个/, '')}`
    return `每 ${parts.map(({ count, zh }) => `${count} ${zh}`).join(' ')}`
  }
  if (parts.length === 1 && first!.count === 1) return `Every ${first!.en}`
  return `Every ${parts.map(({ count, en }) => `${count} ${en}${count === 1 ? '' : 's'}`).join(' ')}`
}

// ---- cron

function name(kind: 'weekday' | 'month', value: number, language: Language): string {
  // 2023-01-01 was a Sunday.
  const date = kind === 'weekday' ? new Date(Date.UTC(2023, 0, 1 + (value % 7))) : new Date(Date.UTC(2023, value - 1, 1))
  const style = kind === 'weekday' && language === 'zh' ? 'short' : 'long'
  if (kind === 'month' && language === 'zh') return `${value} 月`
  return new Intl.DateTimeFormat(language === 'zh' ? 'zh-CN' : 'en-GB', { [kind]: style, timeZone: 'UTC' }).format(date)
}

function cronWords(text: string, language: Language): string | null {
  const cron = parseCron(text)
  if (!cron) return null
  const time = timeWords(cron, language)
  if (!time) return null
  const days = dayWords(cron, language)
  if (days === null) return null
  if (language === 'zh') return spaced([days || (time.fixed ? '每天' : ''), time.text].filter(Boolean).join(time.fixed ? ' ' : '，'))
  const when = days || (time.fixed ? 'every day' : '')
  return capital([time.text, when].filter(Boolean).join(when.startsWith('on ') ? ' ' : ', '))
}

interface Time {
  text: string
  /** Certain times of a day, not a frequency. */
  fixed: boolean
}

const TIMES_MAX = 6

function timeWords(cron: Cron, language: Language): Time | null {
  const seconds = valuesOf(cron.second, 0, 59)
  const minutes = valuesOf(cron.minute, 0, 59)
  const hours = valuesOf(cron.hour, 0, 23)
  if (!seconds || !minutes || !hours) return null
  if (seconds.length * minutes.length * hours.length <= TIMES_MAX && hours.length < 24) {
    const times = hours.flatMap((hour) =>
      minutes.flatMap((minute) => seconds.map((second) => `${two(hour)}:${two(minute)}${seconds.length > 1 || second > 0 ? `:${two(second)}` : ''}`)),
    )
    return { text: language === 'zh' ? list(times, 'zh') : `at ${list(times, 'en')}`, fixed: true }
  }
  const zh = language === 'zh'
  const parts: string[] = []
  const each = (values: number[], size: number) => (values.length > 1 && values[0] === 0 && isEven(values, size) ? size / values.length : null)
  const secondStep = each(seconds, 60)
  const minuteStep = each(minutes, 60)
  if (secondStep !== null) parts.push(zh ? (secondStep === 1 ? '每秒' : `每 ${secondStep} 秒`) : secondStep === 1 ? 'every second' : `every ${secondStep} seconds`)
  else if (seconds.length > 1 || seconds[0] !== 0) parts.push(zh ? `第 ${numberList(seconds, 'zh')} 秒` : `at ${seconds.length === 1 ? 'second' : 'seconds'} ${numberList(seconds, 'en')}`)
  const hasSeconds = parts.length > 0
  if (minuteStep !== null) {
    if (minuteStep > 1) parts.push(zh ? `每 ${minuteStep} 分钟` : hasSeconds ? `of every ${ordinal(minuteStep)} minute` : `every ${minuteStep} minutes`)
    else if (!hasSeconds) parts.push(zh ? '每分钟' : 'every minute')
    else if (secondStep === null) parts.push(zh ? '每分钟' : 'of every minute')
  } else {
    parts.push(zh ? `第 ${numberList(minutes, 'zh')} 分` : `${hasSeconds ? 'of' : 'at'} ${minutes.length === 1 ? 'minute' : 'minutes'} ${numberList(minutes, 'en')}`)
  }
  const hourStep = each(hours, 24)
  if (hourStep === 1) {
    if (minuteStep === null) return { text: zh ? `每小时${parts.reverse().join('')}` : `${parts.join(' ')} of every hour`, fixed: false }
  } else if (hourStep !== null) {
    parts.push(zh ? `每 ${hourStep} 小时` : minuteStep === null ? `every ${hourStep} hours` : `in every ${ordinal(hourStep)} hour`)
  } else {
    const ranges = runs(hours).map(([from, to]) => (zh ? `${two(from)}:00 至 ${two(to)}:59` : `from ${two(from)}:00 to ${two(to)}:59`))
    parts.push(list(ranges, language))
  }
  return { text: zh ? parts.reverse().join('，') : parts.join(' '), fixed: false }
}

function isEven(values: number[], size: number): boolean {
  const step = size / values.length
  return values.every((value, index) => value === index * step)
}

/** 5, 20 and 40; a long row of neighbours is 5 to 40. */
function numberList(values: number[], language: Language): string {
  return list(runs(values).flatMap(([from, to]) => (to - from < 2 ? range(from, to) : [`${from}${language === 'zh' ? ' 至 ' : ' to '}${to}`])), language)
}

function range(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => String(from + index))
}

/** Neighbours as pairs of first and last. */
function runs(values: number[]): [number, number][] {
  const found: [number, number][] = []
  for (const value of values) {
    const last = found.at(-1)
    if (last && last[1] === value - 1) last[1] = value
    else found.push([value, value])
  }
  return found
}

function dayWords(cron: Cron, language: Language): string | null {
  const days = cron.day.all ? '' : daysOfMonth(cron.day, language)
  const weekdays = cron.weekday.all ? '' : daysOfWeek(cron.weekday, language)
  const months = cron.month.all ? '' : nameList('month', valuesOf(cron.month, 1, 12)!, language)
  const years = cron.year.all ? '' : numberList(valuesOf(cron.year, 1970, 2199)!, language)
  if (days === null || weekdays === null) return null
  const both = cron.day.star || cron.weekday.star
  if (language === 'zh') {
    const text = [days, weekdays].filter(Boolean).join(both ? '且为' : '以及')
    const monthly = !months && (days || hasNth(cron.weekday)) ? '每月' : ''
    return spaced([years && `${years} 年`, months, `${monthly}${text}`].filter(Boolean).join(' '))
  }
  const of = months ? ` of ${months}` : ' of the month'
  const parts: string[] = []
  if (days) parts.push(`on ${days}${of}`)
  if (days && weekdays) parts.push(both ? `if it is a ${weekdays}` : `and on ${weekdays}`)
  else if (weekdays) parts.push(`${isRange(cron.weekday) ? '' : 'on '}${weekdays}${hasNth(cron.weekday) ? of : months && ` in ${months}`}`)
  else if (months && !days) parts.push(`in ${months}`)
  if (years) parts.push(months || hasNth(cron.weekday) ? years : `in ${years}`)
  return parts.join(both && days && weekdays ? ', ' : ' ')
}

function isRange(field: Field): boolean {
  return field.items.length === 1 && field.items[0]!.kind === 'values' && field.items[0]!.from !== field.items[0]!.to
}

/** Chinese with a space between characters and digits. */
function spaced(text: string): string {
  return text.replace(/([\u4e00-\u9fff])(\d)/g, '$1 $2').replace(/(\d)([\u4e00-\u9fff])/g, '$1 $2')
}

function hasNth(field: Field): boolean {
  return field.items.some((item) => item.kind === 'nth')
}

function nameList(kind: 'weekday' | 'month', values: number[], language: Language): string {
  const words = runs(values).flatMap(([from, to]) =>
    to - from < 2
      ? Array.from({ length: to - from + 1 }, (_, index) => name(kind, from + index, language))
      : [`${name(kind, from, language)}${language === 'zh' ? '至' : ' to '}${name(kind, to, language)}`],
  )
  return list(words, language)
}

function daysOfMonth(field: Field, language: Language): string | null {
  const zh = language === 'zh'
  const plain = field.items.filter((item) => item.kind === 'values')
  const values = valuesOf({ ...field, items: plain }, 1, 31) ?? []
  const words = runs(values).flatMap(([from, to]) => {
    if (to - from < 2) return range(from, to).map((day) => (zh ? `${day} 日` : `the ${ordinal(Number(day))}`))
    return [zh ? `${from} 日至 ${to} 日` : `the ${ordinal(from)} to the ${ordinal(to)}`]
  })
  for (const item of field.items) if (item.kind !== 'values') words.push(specialDay(item, language))
  return words.length === 0 ? null : list(words, language)
}

function specialDay(item: Item, language: Language): string {
  const zh = language === 'zh'
  if (item.kind === 'nearest') return zh ? `离 ${item.day} 日最近的工作日` : `the working day nearest to the ${ordinal(item.day)}`
  if (item.kind !== 'last') return ''
  const { before, working } = item
  if (zh) {
    const day = before === 0 ? '最后一天' : `倒数第 ${before + 1} 天`
    if (!working) return day
    return before === 0 ? '最后一个工作日' : `离${day}最近的工作日`
  }
  const day = before === 0 ? 'the last day' : `the ${ordinal(before + 1)} last day`
  if (!working) return day
  return before === 0 ? 'the last working day' : `the working day nearest to ${day}`
}

const NTH_EN = ['last', 'first', 'second', 'third', 'fourth', 'fifth']
const NTH_ZH = ['最后一个', '第一个', '第二个', '第三个', '第四个', '第五个']

function daysOfWeek(field: Field, language: Language): string | null {
  const zh = language === 'zh'
  const plain = field.items.filter((item) => item.kind === 'values')
  const values = valuesOf({ ...field, items: plain }, 0, 6) ?? []
  const words: string[] = []
  // Sunday at the end: Monday to Sunday reads better than Sunday and Monday to Saturday.
  if (values.length > 0) words.push(nameList('weekday', values.includes(0) && values.includes(6) ? [...values.slice(1), 7] : values, language))
  for (const item of field.items) {
    if (item.kind !== 'nth') continue
    for (let day = item.from; day <= item.to; ++day) {
      words.push(zh ? `${NTH_ZH[item.nth]}${name('weekday', day, language)}` : `the ${NTH_EN[item.nth]} ${name('weekday', day, language)}`)
    }
  }
  return words.length === 0 ? null : list(words, language)
}

// ---- repeating intervals

const PERIOD: [string, string][] = [['year', '年'], ['month', '个月'], ['week', '周'], ['day', '天'], ['hour', '小时'], ['minute', '分钟'], ['second', '秒']]

function isoWords(text: string, language: Language): string | null {
  const match = /^R(\d*)\/([^/]+)\/([^/]+)$/.exec(text.trim())
  if (!match) return null
  const [, times, start, end] = match as unknown as [string, string, string, string]
  const period = /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?$/.exec(end)
  let every: string
  if (period) {
    const parts = PERIOD.map(([en, zh], index) => ({ count: Number(period[index + 1] ?? 0), en, zh })).filter(({ count }) => count > 0)
    if (parts.length === 0) return null
    every = everyParts(parts, language)
  } else {
    const length = Date.parse(end) - Date.parse(start)
    if (!(length > 0)) return null
    every = everyWords(length, language)
  }
  const first = clockText(start)
  if (language === 'zh') return `${every}，从 ${first} 起${times ? `，共 ${times} 次` : ''}`
  return `${every} from ${first}${times ? `, ${times} ${times === '1' ? 'time' : 'times'}` : ''}`
}

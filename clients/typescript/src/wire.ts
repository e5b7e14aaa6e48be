/** Values of TypeScript as the members of JSON that the HTTP API takes, and back. Pure functions, and the types of options. */

import { Buffer } from 'node:buffer'

import { InvalidRequest } from './errors.js'
import { decode, encode } from './json.js'

type Unit = 'ms' | 's' | 'm' | 'h' | 'd' | 'w'
/** A length of time with its unit, such as "250ms", "10m", "3d12h" or "PT1.5S". */
export type Duration = `${number}${Unit}` | `${number}${Unit}${number}${Unit}` | `P${string}`
/** A point in time: a Date, or RFC 3339 text with an offset, such as "2027-01-01T06:00:00Z". */
export type Instant = Date | string

type DurationName = 'after' | 'delay' | 'every' | 'expires_in' | 'first' | 'jitter' | 'lease' | 'max' | 'misfire_window'
  | 'repeat_every' | 'retry_in' | 'timeout' | 'wait' | 'within'
type InstantName = 'due' | 'end' | 'expires' | 'start' | 'until'
type ContentName = 'body' | 'body_base64' | 'json'
type Opaque = 'headers' | 'kafka' | 'progress' | 'checkpoint' | 'result'

type CamelCase<S extends string> = S extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<CamelCase<Rest>>}` : S

type OptionName<K> = K extends `${string}_ms` | ContentName ? never : K extends string ? CamelCase<K> : never
type OptionValue<K, V> = V extends string ? (K extends DurationName ? Duration : K extends InstantName ? Instant : V)
  : K extends Opaque ? V : V extends readonly unknown[] ? V : V extends object ? OptionsOf<V> : V

/**
 * The members of a request of the HTTP API as options: in camelCase, durations and instants in the types above, without their twins in
 * milliseconds. Content is the option `data`.
 */
export type OptionsOf<T> = { [K in keyof T as OptionName<K>]: OptionValue<K, T[K]> }

/** Content that is sent as JSON whatever its type: `new Json("text")` is a JSON string, and "text" is plain text. */
export class Json<T = unknown> {
  constructor(readonly value: T) {}
}

/** The members as JSON text. */
export type Members = Record<string, unknown>

const OPAQUE = new Set<string>(['headers', 'kafka', 'json', 'progress', 'checkpoint', 'result', 'data'])

/** Options as members of the API. Options that are undefined are absent. */
export function members(options: object): Members {
  const { data, ...others } = snake(options) as Members
  return data === undefined ? others : { ...others, ...content(data) }
}

function snake(options: object): Members {
  const found: Members = {}
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || name === 'signal') continue
    const key = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    found[key] = OPAQUE.has(key) ? value : plain(key, value)
  }
  return found
}

function plain(name: string, value: unknown): unknown {
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw new InvalidRequest('bad_instant', `\`${name}\` is an invalid Date`, name)
    return value.toISOString()
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? snake(value) : value
}

/** Bytes are sent as they are, a string as text, and anything else as JSON. */
function content(data: unknown): Members {
  if (data instanceof Uint8Array) return { body_base64: Buffer.from(data).toString('base64') }
  if (typeof data === 'string') return { body: data }
  return { json: data instanceof Json ? data.value : data }
}

interface Content { json?: unknown; body?: string; body_base64?: string; undecodable?: string }

/** The content of a message as shown or delivered: the value of JSON, text or bytes; undefined if it is not shown. Throws if it
 * could not be decoded. */
export function dataOf(message: Content): unknown {
  if (message.undecodable !== undefined) throw new InvalidRequest('bad_data', message.undecodable, 'data')
  if ('json' in message) return message.json
  return message.body_base64 === undefined ? message.body : new Uint8Array(Buffer.from(message.body_base64, 'base64'))
}

/** The text of a request. A member whose value is no JSON is named as the user knows it. */
export function text(value: Members): string {
  try {
    return encode(value, 'request')
  } catch (error) {
    if (!(error instanceof InvalidRequest) || !error.field) throw error
    const place = error.field.replace(/^request\.(json\b)?/, (_, json?: string) => (json ? 'data' : ''))
    throw new InvalidRequest(error.code, error.detail.replace(error.field, place), place)
  }
}

const LENGTHS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }
const SIMPLE = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w))+$/
const ISO = /^P(?=T?\d)(?:(\d+(?:\.\d+)?)W)?(?:(\d+(?:\.\d+)?)D)?(?:T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?$/

/** A duration that the client itself has to keep, or that a handler gives. The server reads all others. */
export function milliseconds(value: Duration, name: string): number {
  const iso = typeof value === 'string' ? ISO.exec(value) : undefined
  if (iso) {
    return [604_800_000, 86_400_000, 3_600_000, 60_000, 1000].reduce((sum, length, at) => sum + length * Number(iso[at + 1] ?? 0), 0)
  }
  if (typeof value !== 'string' || !SIMPLE.test(value)) throw new InvalidRequest('bad_duration', `\`${String(value)}\` is no duration: write it as "10s" or "1m30s"`, name)
  let sum = 0
  for (const [, number, unit] of value.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d|w)/g)) sum += Number(number) * (LENGTHS[unit ?? ''] ?? 0)
  return sum
}

/** The part of a path that is a name. */
export function segment(name: string): string {
  return encodeURIComponent(name)
}

/** The query of a URL; empty without parameters. */
export function query(parameters: Members): string {
  const words = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
  return words.length ? `?${words.join('&')}` : ''
}

/** Lines of JSON, such as the answer to a batch. */
export function lines(body: string): unknown[] {
  return body.split('\n').filter((line) => line !== '').map(decode)
}

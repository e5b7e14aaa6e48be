/**
 * JSON without silent loss. Integers that a double cannot hold are read as `bigint`, and a `bigint` is written as a number. What JSON
 * cannot hold, such as a function, a Map or a promise that was not awaited, is refused with its place, instead of becoming `{}` or null.
 */

import { randomUUID } from 'node:crypto'

import { InvalidRequest } from './errors.js'

/** How many levels of objects and lists a request may have in all. */
export const LEVELS_MAX = 32
const MARK = `integer ${randomUUID()} ` // begins the strings that stand for long integers between the two steps of a conversion
const TOKENS = /"(?:[^"\\]+|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const INTEGER = /^-?\d+$/
const LONG_INTEGER = /(?:^|[:,[\s])-?\d{16,}/ // may be inside a string, too: then the slow way is taken for nothing
const MARKED = new RegExp(`"${MARK}(-?\\d+)"`, 'g')

/** The value as JSON. Throws InvalidRequest with the code `not_json` or `too_deep`, and the place as field. */
export function encode(value: unknown, name = 'data', levelsMax = LEVELS_MAX): string {
  if (value === undefined) throw fault(name, 'undefined')
  if (!check(value, name, [], levelsMax)) return JSON.stringify(value)
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? MARK + each : each)).replace(MARKED, '$1')
}

/** The value of a text that is JSON. Throws SyntaxError. */
export function decode(text: string): unknown {
  if (!LONG_INTEGER.test(text)) return JSON.parse(text)
  const marked = text.replace(TOKENS, (token) => (INTEGER.test(token) && !Number.isSafeInteger(Number(token)) ? `"${MARK}${token}"` : token))
  return JSON.parse(marked, (_, each: unknown) => (typeof each === 'string' && each.startsWith(MARK) ? BigInt(each.slice(MARK.length)) : each))
}

function fault(place: string, what: string): InvalidRequest {
  return new InvalidRequest('not_json', `\`${place}\` is ${what}, which is no JSON: convert it before`, place)
}

/** Whether a bigint is in the value. Throws if something in it is no JSON. `above` are the objects that contain it. */
function check(value: unknown, place: string, above: object[], levelsMax: number): boolean {
  switch (typeof value) {
    case 'bigint': return true
    case 'function':
    case 'symbol': throw fault(place, `a ${typeof value}`)
    case 'number':
      if (!Number.isFinite(value)) throw fault(place, String(value))
      return false
    case 'object': break
    default: return false
  }
  if (value === null) return false
  if (value instanceof Map || value instanceof Set || value instanceof Promise || ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    throw fault(place, `a ${value.constructor.name}`)
  }
  if (value instanceof Date && Number.isNaN(value.getTime())) throw fault(place, 'an invalid Date')
  if ('toJSON' in value) return false
  if (above.includes(value)) throw fault(place, 'an object that contains itself')
  if (above.length >= levelsMax) {
    const whole = /^\w*/.exec(place)?.[0]
    throw new InvalidRequest('too_deep', `\`${place}\` is at level ${levelsMax + 1} of the ${whole}, and ${levelsMax} are the limit: nest less, or send deep JSON as text`, place)
  }
  above.push(value)
  let found = false
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) found = check(value[index], `${place}[${index}]`, above, levelsMax) || found
  } else {
    for (const [key, each] of Object.entries(value)) found = check(each, `${place}.${key}`, above, levelsMax) || found
  }
  above.pop()
  return found
}

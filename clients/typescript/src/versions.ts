/** The versions of servers that this client understands. */

import { Unavailable } from './errors.js'
import { decode } from './json.js'

type Version = readonly [number, number]
const OLDEST: Version = [0, 1] // from this one on
const BEFORE: Version = [0, 2]

const isBefore = (one: Version, other: Version): boolean => one[0] < other[0] || (one[0] === other[0] && one[1] < other[1])

/** Throws if the page /readyz names a version that is none of these. A page without a version is no obstacle: proxies may keep it away. */
export function checkVersion(page: string, from: string): void {
  const version = versionOf(page)
  const found = /^(\d+)\.(\d+)/.exec(version)
  if (!found) return
  const number: Version = [Number(found[1]), Number(found[2])]
  if (!isBefore(number, OLDEST) && isBefore(number, BEFORE)) return
  throw new Unavailable('unsupported_server', `${from} is a Duewheel server of version ${version}, and this client is for those from `
    + `${OLDEST.join('.')} and before ${BEFORE.join('.')}: install the client of the server's version`)
}

function versionOf(page: string): string {
  try {
    return String((decode(page) as { version?: unknown }).version)
  } catch {
    return ''
  }
}

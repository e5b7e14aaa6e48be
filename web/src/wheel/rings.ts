// Where the picture of a wheel has its parts. Each level is a ring, level 0 the outermost. A ring has twice as many cells
// as a block has slots: one half is the block that contains the current time, the other half the next one. Time runs
// clockwise, and slot n is in cell n modulo their number.
import type { Place } from './model'

export const SIZE = 400
const OUTER = 186
const INNER = 40

export interface Band {
  inner: number
  outer: number
}

export function band(level: number, levels: number): Band {
  const width = (OUTER - INNER) / levels
  const gap = Math.min(4, width / 6)
  return { outer: OUTER - level * width, inner: OUTER - (level + 1) * width + gap }
}

/** The angle of a number of slots, 0 to the number of cells: clockwise from the top, in radians. */
export function angle(slots: number, cells: number): number {
  return ((slots % cells) / cells) * 2 * Math.PI - Math.PI / 2
}

export function point(radius: number, at: number): [number, number] {
  return [round(SIZE / 2 + radius * Math.cos(at)), round(SIZE / 2 + radius * Math.sin(at))]
}

/** The path of the cells from slot `from` on, `count` of them. */
export function cellPath({ inner, outer }: Band, from: number, cells: number, count = 1): string {
  const begin = angle(from, cells)
  const end = begin + (count / cells) * 2 * Math.PI
  // A pixel between neighbours, if there is room for it.
  const pad = Math.min(0.8, (outer * (end - begin)) / 8)
  const [ax, ay] = point(outer, begin + pad / outer)
  const [bx, by] = point(outer, end - pad / outer)
  const [cx, cy] = point(inner, end - pad / inner)
  const [dx, dy] = point(inner, begin + pad / inner)
  const large = end - begin > Math.PI ? 1 : 0
  return `M${ax} ${ay}A${outer} ${outer} 0 ${large} 1 ${bx} ${by}L${cx} ${cy}A${inner} ${inner} 0 ${large} 0 ${dx} ${dy}Z`
}

/** Where the timer number `index` of `count` in a slot is drawn: beside each other, in two rows if there are many. */
export function dotPosition(place: Place, index: number, count: number, levels: number, cells: number): [number, number] {
  const { inner, outer } = band(place.level, levels)
  const rows = count > 3 ? 2 : 1
  const columns = Math.ceil(count / rows)
  const column = index % columns
  const row = Math.floor(index / columns)
  const at = angle(place.slot, cells) + ((column + 0.5) / columns / cells) * 2 * Math.PI
  return point(inner + ((row + 0.5) / rows) * (outer - inner), at)
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}

// The picture of a wheel: one ring for each level, hands, slots with their timers, and what has just moved.
import { useMemo } from 'preact/hooks'
import { formatNumber } from '../ui/format'
import type { Place } from './model'
import { reach, total, type Dot, type Picture, type Ring } from './picture'
import { angle, band, cellPath, dotPosition, point, SIZE } from './rings'
import { t } from './text'

// More timers than that in a slot are shown as a number.
const DOTS_MAX = 6
// Rings with more cells than that have no borders between the cells.
const CELLS_MAX = 32

export interface Trail {
  id: number
  from: Place
  to: Place | null // null: it fired
}

interface Props {
  picture: Picture
  dots?: Dot[]
  trails?: Trail[]
  followed?: number | null
  /** Cells of timers that are followed without dots. */
  marked?: Place | null
  center: [string, string]
  summary: string
  /** The tooltip of a slot. */
  slotTitle: (level: number, slot: number, count: number) => string
  onSlot?: (level: number, slot: number) => void
  onDot?: (id: number) => void
}

export function WheelDrawing({ picture, dots = [], trails = [], followed, marked, center, summary, slotTitle, onSlot, onDot }: Props) {
  const levels = picture.rings.length
  const cells = picture.base * 2
  const shown = dots.filter((dot) => dot.of <= DOTS_MAX || dot.id === followed)
  return (
    <svg class="wheel" viewBox={`0 0 ${SIZE} ${SIZE}`} role="img" aria-label={summary}>
      {picture.rings.map((ring) => (
        <RingDrawing key={ring.level} ring={ring} base={picture.base} levels={levels} marked={marked} slotTitle={slotTitle} onSlot={onSlot} />
      ))}
      {picture.rings.map((ring) => (
        <Hand key={ring.level} ring={ring} now={picture.now} levels={levels} cells={cells} />
      ))}
      {trails.map((trail) => (
        <TrailDrawing key={`${trail.id} ${picture.now}`} trail={trail} levels={levels} cells={cells} />
      ))}
      {cells <= CELLS_MAX && <Crowds picture={picture} cells={cells} />}
      {shown.map((dot) => {
        const [x, y] = dotPosition(dot.place, dot.index, Math.min(dot.of, DOTS_MAX), levels, cells)
        const kind = dot.id === followed ? 'dot followed' : dot.cancelled ? 'dot cancelled' : 'dot'
        return (
          <circle
            key={dot.id}
            class={`${kind} level-${dot.place.level}`}
            cx={x}
            cy={y}
            r={dot.id === followed ? 7 : 4.5}
            onClick={onDot && (() => onDot(dot.id))}
          />
        )
      })}
      <text class="wheel-caption" x={SIZE / 2} y={SIZE / 2 - 4}>{center[0]}</text>
      <text class="wheel-now" x={SIZE / 2} y={SIZE / 2 + 14}>{center[1]}</text>
    </svg>
  )
}

interface RingProps {
  ring: Ring
  base: number
  levels: number
  marked?: Place | null
  slotTitle: Props['slotTitle']
  onSlot?: (level: number, slot: number) => void
}

function RingDrawing({ ring, base, levels, marked, slotTitle, onSlot }: RingProps) {
  const cells = base * 2
  const at = band(ring.level, levels)
  const block = Math.floor(ring.current / base) * base
  const most = Math.max(1, ...ring.counts.values())
  // The ground only changes when the hand of the ring moves.
  const ground = useMemo(() => {
    if (cells <= CELLS_MAX) {
      return Array.from({ length: cells }, (_, index) => {
        const slot = block + index
        return <path key={slot % cells} class={region(slot, ring.current, base)} d={cellPath(at, slot, cells)} />
      })
    }
    const parts: [number, number][] = [[block, ring.current], [ring.current, ring.current + 1], [ring.current + 1, block + base], [block + base, block + cells]]
    return parts
      .filter(([from, to]) => to > from)
      .map(([from, to], index) => (
        <path key={index} class={region(from, ring.current, base)} d={cellPath(at, from, cells, to - from)} />
      ))
  }, [ring.current, cells, levels])
  const hit = (slot: number) => onSlot && (() => onSlot(ring.level, slot))
  return (
    <g class={`ring level-${ring.level}`}>
      {ground}
      {[...ring.counts].filter(([, count]) => count > 0).map(([slot, count]) => (
        <path
          key={slot}
          class={`used${marked?.level === ring.level && marked.slot === slot ? ' marked' : ''}`}
          d={cellPath(at, slot, cells)}
          fill-opacity={cells <= CELLS_MAX ? 0.16 + 0.3 * (count / most) : 0.35 + 0.65 * (count / most)}
        >
          <title>{slotTitle(ring.level, slot, count)}</title>
        </path>
      ))}
      {marked?.level === ring.level && <path class="mark" d={cellPath(at, marked.slot, cells)} />}
      {onSlot && cells <= CELLS_MAX && Array.from({ length: cells }, (_, index) => block + index)
        .filter((slot) => slot > ring.current)
        .map((slot) => (
          <path key={slot} class="target" d={cellPath(at, slot, cells)} onClick={hit(slot)}>
            <title>{slotTitle(ring.level, slot, ring.counts.get(slot) ?? 0)}</title>
          </path>
        ))}
    </g>
  )
}

function region(slot: number, current: number, base: number): string {
  if (slot < current) return 'ground past'
  if (slot === current) return 'ground current'
  return slot < (Math.floor(current / base) + 1) * base ? 'ground here' : 'ground next'
}

function Hand({ ring, now, levels, cells }: { ring: Ring; now: number; levels: number; cells: number }) {
  const at = angle((now + (ring.level === 0 ? 0.5 : 0)) / ring.span, cells)
  const { inner, outer } = band(ring.level, levels)
  const [ax, ay] = point(inner, at)
  const [bx, by] = point(outer + (ring.level === 0 ? 6 : 0), at)
  return <line class="hand" x1={ax} y1={ay} x2={bx} y2={by} />
}

function TrailDrawing({ trail, levels, cells }: { trail: Trail; levels: number; cells: number }) {
  const [ax, ay] = dotPosition(trail.from, 0, 1, levels, cells)
  if (trail.to === null) return <circle class="fired" cx={ax} cy={ay} r="11" />
  const [bx, by] = dotPosition(trail.to, 0, 1, levels, cells)
  return <line class={`trail level-${trail.to.level}`} x1={ax} y1={ay} x2={bx} y2={by} />
}

function Crowds({ picture, cells }: { picture: Picture; cells: number }) {
  const levels = picture.rings.length
  return (
    <g class="crowds">
      {picture.rings.flatMap((ring) =>
        [...ring.counts].filter(([, count]) => count > DOTS_MAX).map(([slot, count]) => {
          const [x, y] = dotPosition({ level: ring.level, slot }, 0, 1, levels, cells)
          return <text key={`${ring.level} ${slot}`} x={x} y={y + 4}>{count}</text>
        }),
      )}
    </g>
  )
}

export function WheelLegend({ picture, span }: { picture: Picture; span: (ticks: number) => string }) {
  return (
    <ul class="wheel-legend">
      {picture.rings.map((ring) => (
        <li key={ring.level}><span class={`swatch level-${ring.level}`} aria-hidden="true" /> {t.legend(ring.level, span(ring.span))}</li>
      ))}
    </ul>
  )
}

/** The same as a table, for people who do not see the picture, and for those who want the numbers. */
export function WheelTable({ picture, span, instant }: { picture: Picture; span: (ticks: number) => string; instant: (tick: number) => string }) {
  return (
    <div class="scroll">
      <table class="wheel-table">
        <caption class="hidden">{t.tableCaption}</caption>
        <thead>
          <tr>
            <th scope="col">{t.level}</th>
            <th scope="col" class="number">{t.slotWidth}</th>
            <th scope="col" class="number">{t.reachesTo}</th>
            <th scope="col" class="number">{t.timers}</th>
            <th scope="col" class="number">{t.slotsInUse}</th>
          </tr>
        </thead>
        <tbody>
          {picture.rings.map((ring) => (
            <tr key={ring.level}>
              <th scope="row"><span class={`swatch level-${ring.level}`} aria-hidden="true" /> {ring.level}</th>
              <td class="number">{span(ring.span)}</td>
              <td class="number">{instant(reach(ring, picture.base) - 1)}</td>
              <td class="number">{formatNumber(total(ring))}</td>
              <td class="number">{[...ring.counts.values()].filter((count) => count > 0).length}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

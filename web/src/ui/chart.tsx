// A chart over time: uPlot draws it in the colours of the theme and the width of its place. Screen readers get its summary.
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { dark } from '../app/theme'
import { language } from '../i18n/language'
import { markTexts, timeSpace, timeSteps, timeTexts, valueMarks, valueText, type Unit } from './axis'
import { formatInstant, formatTime } from './format'

export interface Series {
  label: string
  /** One value for each time; null where there is none. */
  values: (number | null)[]
}

/** The value of a custom property as the browser resolves it for the present theme. */
export function color(property: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${property})`
  document.body.append(probe)
  const value = getComputedStyle(probe).color
  probe.remove()
  return value
}

export interface ChartProps {
  /** Seconds since 1970, ascending. */
  times: number[]
  series: Series[]
  unit: Unit
  /** What a screen reader says instead of the picture. */
  summary: string
  height?: number
  /** What the axis of time shows, in seconds since 1970; the times by default. */
  range?: [number, number]
  /** The axis of values reaches at least this. */
  top?: number
  kind?: 'line' | 'bars'
  /** A selected range, in seconds since 1970. */
  onSelect?: (from: number, to: number) => void
  onClick?: (time: number) => void
}

// Beyond this, a tooltip has the date, too.
const DAY_S = 86_400
// A line shows at least this long a time, so that the first seconds of a page do not fill it.
const LINE_RANGE_MIN_S = 60
const FONT_PX = 12
const TIME_AXIS_PX = 30
const MARK_PX = 30
const TOP_PX = 8
const GAP_PX = 5
const COLORS = ['--series-1', '--series-2']

export function Chart(props: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const latest = useRef(props)
  latest.current = props
  const height = props.height ?? 180
  const data = [props.times, ...props.series.map((one) => one.values)] as uPlot.AlignedData
  const labels = props.series.map((one) => one.label).join('\n')

  useEffect(() => {
    const element = place.current!
    const soft = color('--soft')
    const line = color('--line')
    const font = `${FONT_PX}px ${getComputedStyle(document.body).fontFamily}`
    const pen = document.createElement('canvas').getContext('2d')!
    pen.font = font
    const widthOf = (texts: string[]) => Math.max(0, ...texts.map((text) => pen.measureText(text).width))
    const steps_max = Math.floor((height - TIME_AXIS_PX - TOP_PX) / MARK_PX)
    const marks = (top: number) => valueMarks(latest.current.unit, top, steps_max)
    const rangeOf = (u: uPlot) => ({ seconds: (u.scales.x!.max ?? 0) - (u.scales.x!.min ?? 0), width_px: u.width })
    const axis = { stroke: soft, font, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1, size: 4 } }
    // A bar begins at its time, and the last one is as long as the others.
    const shapes = props.kind === 'bars' ? uPlot.paths.bars!({ size: [0.8, 60], align: 1 }) : undefined
    const endOf = (u: uPlot, last: number) => last + ((u.data[0][1] ?? last + 1) - (u.data[0][0] ?? last))
    const indexAtCursor = (u: uPlot) => {
      const { idx, left } = u.cursor
      if (idx === null || idx === undefined) return undefined
      return props.kind === 'bars' && u.data[0][idx]! > u.posToVal(left!, 'x') ? Math.max(0, idx - 1) : idx
    }
    const made = new uPlot(
      {
        width: element.clientWidth || 300,
        height,
        padding: [TOP_PX, (u) => timeSpace(rangeOf(u)) / 2, 0, 0],
        legend: { show: false },
        cursor: { points: { size: 6 }, drag: { x: !!latest.current.onSelect, y: false, setScale: false } },
        scales: {
          x: { time: true, range: (u, min, max) => latest.current.range ?? (props.kind === 'bars' ? [min, endOf(u, max)] : [Math.min(min, max - LINE_RANGE_MIN_S), max]) },
          y: { range: (_, _min, max) => [0, marks(Math.max(max ?? 0, latest.current.top ?? 1)).at(-1)!] },
        },
        axes: [
          {
            ...axis, size: TIME_AXIS_PX, space: (u) => timeSpace(rangeOf(u)), incrs: (u) => timeSteps(rangeOf(u)),
            values: (u, splits) => timeTexts(splits, rangeOf(u)),
          },
          {
            ...axis, splits: (_u, _axis, _min, max) => marks(max), values: (_, splits) => markTexts(latest.current.unit, splits),
            // The mark of a time at the left end needs its half of the room, too.
            size: (u, texts) => Math.ceil(Math.max(axis.ticks.size + GAP_PX + widthOf(texts ?? []), timeSpace(rangeOf(u)) / 2)),
            gap: GAP_PX,
          },
        ],
        series: [
          {},
          ...latest.current.series.map((one, index) => {
            const stroke = color(COLORS[index] ?? '--soft')
            return { label: one.label, stroke, width: props.kind === 'bars' ? 0 : 1.75, fill: props.kind === 'bars' ? stroke : undefined, paths: shapes, points: props.kind === 'bars' ? { show: false } : { size: 4, fill: stroke } }
          }),
        ],
        hooks: {
          setSelect: [
            (u) => {
              if (u.select.width < 3) return
              latest.current.onSelect?.(u.posToVal(u.select.left, 'x'), u.posToVal(u.select.left + u.select.width, 'x'))
              u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false)
            },
          ],
          setCursor: [(u) => showValues(u)],
        },
      },
      data,
      element,
    )
    const tip = document.createElement('div')
    tip.className = 'chart-tip'
    tip.hidden = true
    made.over.append(tip)
    made.over.addEventListener('click', () => {
      const index = indexAtCursor(made)
      const time = index === undefined ? undefined : made.data[0][index]
      if (time !== undefined) latest.current.onClick?.(time)
    })
    function showValues(u: uPlot) {
      const index = indexAtCursor(u)
      const time = index === undefined ? undefined : u.data[0][index]
      if (time === undefined || (u.cursor.left ?? -1) < 0) {
        tip.hidden = true
        return
      }
      const values = latest.current.series.map((one) => {
        const value = one.values[index!]
        return value === null || value === undefined ? null : `${one.label} ${valueText(latest.current.unit, value)}`
      })
      const long = rangeOf(u).seconds > DAY_S
      tip.textContent = [(long ? formatInstant : formatTime)(time * 1000), ...values.filter((text) => text !== null)].join(' · ')
      tip.hidden = false
      tip.classList.toggle('left', (u.cursor.left ?? 0) > u.over.clientWidth / 2)
    }
    plot.current = made
    const observer = new ResizeObserver(() => {
      if (element.clientWidth > 0 && element.clientWidth !== made.width) made.setSize({ width: element.clientWidth, height })
    })
    observer.observe(element)
    return () => {
      observer.disconnect()
      made.destroy()
      plot.current = null
    }
  }, [dark.value, language.value, labels, height, props.kind])

  useEffect(() => {
    plot.current?.setData(data)
  })

  return <div ref={place} class="chart" role="img" aria-label={props.summary} />
}

/** The names of the series, each with its colour. */
export function Legend({ series }: { series: string[] }) {
  return (
    <div class="chart-legend" aria-hidden="true">
      {series.map((name, index) => (
        <span key={name} class={index === 1 ? 'second' : ''}>{name}</span>
      ))}
    </div>
  )
}

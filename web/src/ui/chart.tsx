// A chart over time: uPlot draws it in the colours of the theme and the width of its place. Screen readers get its summary.
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { dark } from '../app/theme'
import { language } from '../i18n/language'
import { formatDate, formatInstant, formatTime } from './format'

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
  format: (value: number) => string
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

// Beyond this, the axis has dates instead of times.
const LONG_S = 3 * 86_400
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
    const font = `12px ${getComputedStyle(document.body).fontFamily}`
    const axis = { stroke: soft, font, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1, size: 4 } }
    const shapes = props.kind === 'bars' ? uPlot.paths.bars!({ size: [0.8, 60] }) : undefined
    const made = new uPlot(
      {
        width: element.clientWidth || 300,
        height,
        padding: [8, 28, 0, 0],
        legend: { show: false },
        cursor: { points: { size: 6 }, drag: { x: !!latest.current.onSelect, y: false, setScale: false } },
        scales: { x: { time: true, range: (_, min, max) => latest.current.range ?? [min, max] }, y: { range: (_, _min, max) => [0, Math.max((max ?? 0) * 1.1, latest.current.top ?? 1)] } },
        axes: [
          {
            ...axis, size: 30, space: 70,
            values: (_, splits) => {
              const seconds = (splits[1] ?? 0) - (splits[0] ?? 0) < 60
              const long = (splits.at(-1) ?? 0) - (splits[0] ?? 0) > LONG_S
              return splits.map((second) => (long ? formatDate(second * 1000) : formatTime(second * 1000, seconds)))
            },
          },
          { ...axis, size: 64, values: (_, splits) => splits.map((value) => latest.current.format(value)) },
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
      const index = made.cursor.idx
      const time = index === null || index === undefined ? undefined : made.data[0][index]
      if (time !== undefined) latest.current.onClick?.(time)
    })
    function showValues(u: uPlot) {
      const index = u.cursor.idx
      const time = index === null || index === undefined ? undefined : u.data[0][index]
      if (time === undefined || (u.cursor.left ?? -1) < 0) {
        tip.hidden = true
        return
      }
      const values = latest.current.series.map((one) => {
        const value = one.values[index!]
        return value === null || value === undefined ? null : `${one.label} ${latest.current.format(value)}`
      })
      const long = u.data[0].at(-1)! - u.data[0][0]! > LONG_S
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

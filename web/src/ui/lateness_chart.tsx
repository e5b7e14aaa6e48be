// Lateness of deliveries, and the wait before it, in the last hour: of the server or of one queue.
import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { get } from '../api/client'
import { lateness } from '../api/live'
import type { Lateness, LatenessRow } from '../api/openapi'
import { useQuery } from '../api/query'
import { dictionary } from '../i18n/language'
import { Chart, Legend } from './chart'
import { formatDuration, formatRate } from './format'
import { Section } from './parts'
import { Pending } from './table'

const t = dictionary(
  {
    title: 'Lateness and wait of deliveries', about: 'Caused by the server: from when a message was due and could be delivered.',
    late: 'Lateness', wait: 'Wait', waitAbout: 'Before that: for a consumer or target, a pause, or earlier attempts.', lastHour: 'last hour', none: 'No message was delivered in the last hour.',
    summary: (what: string, p50: string, p99: string) => `${what} over time. Last p50 ${p50}, p99 ${p99}.`,
    rate: (text: string) => `Delivered: ${text}/s in the last minute.`,
  },
  {
    title: '投递的滞后与等待', about: '由服务器造成：从消息到期且可以投递时算起。',
    late: '滞后', wait: '等待', waitAbout: '此前等待消费者或目标、暂停或此前的投递。', lastHour: '最近一小时', none: '最近一小时没有投递消息。',
    summary: (what: string, p50: string, p99: string) => `${what}随时间变化。最近 p50 ${p50}，p99 ${p99}。`,
    rate: (text: string) => `投递：最近一分钟 ${text}/秒。`,
  },
)

type Point = LatenessRow | { time_ms: number; p50_ms: null; p99_ms: null; wait_p50_ms: null; wait_p99_ms: null }

/** The server omits rows without deliveries; the line has a gap there. */
function withGaps(rows: LatenessRow[], row_ms: number): Point[] {
  const points: Point[] = []
  for (const [index, row] of rows.entries()) {
    const before = rows[index - 1]
    if (before && row.time_ms - before.time_ms > row_ms) points.push({ time_ms: before.time_ms + row_ms, p50_ms: null, p99_ms: null, wait_p50_ms: null, wait_p99_ms: null })
    points.push(row)
  }
  return points
}

const MINUTE_MS = 60_000

/** Deliveries per second in the last minute. */
function lastRate({ rows, until_ms }: Lateness): string {
  const count = rows.reduce((sum, row) => sum + (row.time_ms >= until_ms - MINUTE_MS ? row.count : 0), 0)
  return formatRate((count * 1000) / MINUTE_MS)
}

/** `of`: one queue, with its rate of deliveries. */
export function LatenessChart({ of }: { of?: { queue: string; namespace: string } }) {
  const hour = useQuery(['lateness', of, lateness.value?.time_ms], (signal) => get<Lateness>('/v1/lateness', { window: '1h', ...of }, signal), { every_ms: 15_000 })
  const [shown, setShown] = useState<Lateness | null>(null)
  if (hour.data && hour.data !== shown) setShown(hour.data)
  if (!shown) return <Section title={t.title}><Pending query={hour} /></Section>
  const points = withGaps(shown.rows, shown.row_ms)
  const last = shown.rows.at(-1)
  // A server that has just started has no hour to show.
  const from_ms = Math.max(shown.from_ms, Math.min(shown.rows[0]?.time_ms ?? 0, shown.until_ms - MINUTE_MS))
  return (
    <Section title={t.title} aside={t.lastHour}>
      {!last ? (
        <p class="empty">{t.none}</p>
      ) : (
        <>
          {of && <p>{t.rate(lastRate(shown))}</p>}
          {([[t.late, t.about, 'p50_ms', 'p99_ms'], [t.wait, t.waitAbout, 'wait_p50_ms', 'wait_p99_ms']] as const).map(([what, about, p50, p99]) => (
            <Fragment key={p50}>
              <p class="muted"><strong>{what}</strong> {about}</p>
              <Legend series={['p50', 'p99']} />
              <Chart
                times={points.map((point) => point.time_ms / 1000)} unit="duration" top={10} height={120} range={[from_ms / 1000, shown.until_ms / 1000]}
                series={[{ label: 'p50', values: points.map((point) => point[p50]) }, { label: 'p99', values: points.map((point) => point[p99]) }]}
                summary={t.summary(what, formatDuration(last[p50]), formatDuration(last[p99]))}
              />
            </Fragment>
          ))}
        </>
      )}
    </Section>
  )
}

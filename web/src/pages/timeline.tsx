// The timeline: what becomes due ahead, from the forecast, as bars; a bar leads to its messages.
import { allOf, type All } from '../api/all'
import { get, inNamespace, prefix } from '../api/client'
import type { Forecast, Queue, SchedulePage } from '../api/openapi'
import { useQuery } from '../api/query'
import { session } from '../api/session'
import { definePage } from '../app/page'
import { href, namespace, route, setQuery } from '../app/router'
import { dictionary } from '../i18n/language'
import { terms } from '../i18n/terms'
import { bucketsOf, bucketSize, localDay, peakOf, type Bucket } from '../timeline/buckets'
import { Chart } from '../ui/chart'
import { formatDuration, formatInstant, formatNumber as n, formatTime } from '../ui/format'
import { Button, Figure, Figures, PageHead, Section } from '../ui/parts'
import { QueueField } from '../ui/queue_field'
import { Pending, Table } from '../ui/table'
import { Name } from '../ui/text'
import './plan.css'

const t = dictionary(
  {
    title: 'Timeline', about: 'How many messages become due, from now on.',
    range: 'Time ahead', hour: 'Next hour', sixHours: 'Next 6 hours', day: 'Next 24 hours', twoDays: 'Next 2 days', week: 'Next 7 days', month: 'Next 30 days', allQueues: 'All queues', choose: 'Your token is for some queues only. Choose one of them.',
    dueNow: 'Due now', dueNowHint: 'ready, not delivered yet', firstQueues: (count: number) => `of the first ${n(count)} queues`, inRange: 'Due in this time', firstTime: 'First time', retries: 'Retries', recurring: 'Recurring', runs: 'Runs of schedules',
    chart: 'Messages that become due', bars: (size: string) => `One bar is ${size}.`, clickHint: 'Click a bar to see its messages; drag over bars to enlarge them.',
    summary: (count: string, peak: string) => `${count} become due. ${peak}`,
    peak: (from: string, to: string, count: string) => `Busiest: ${from} to ${to}, with ${count}.`,
    peakTomorrow: (from: string, to: string, count: string) => `Tomorrow’s peak: ${from} to ${to}, with ${count}.`,
    noneTomorrow: 'Nothing is due tomorrow.', unknownTomorrow: (from: string) => `Of tomorrow it counted only what is due before ${from}.`, beyondTomorrow: 'The server stopped counting before tomorrow.',
    nothing: 'Nothing becomes due in this time.',
    horizon: (until: string) => `The forecast ends at ${until}.`,
    atLeast: (from: string) => `From ${from} on, there may be more than shown: the server stopped counting there.`,
    zoomed: (from: string, to: string) => `${from} to ${to}`, zoomOut: 'Show all',
    table: 'As a table', tableCaption: 'Messages that become due, by time', time: 'Time', due: 'Due',
    chosen: (from: string, to: string) => `Due from ${from} to ${to}`, byQueue: 'Queues with messages in this time',
    searched: (count: number) => `The ${n(count)} queues with the most scheduled messages were searched. Others have the rest.`, noneChosen: 'None of these queues has messages in this time.', showMessages: 'Show messages', ofTheseRuns: 'Of these runs of schedules', notYet: 'created when they are due', close: 'Close',
  },
  {
    title: '时间线', about: '从现在起有多少消息到期。',
    range: '时间范围', hour: '未来 1 小时', sixHours: '未来 6 小时', day: '未来 24 小时', twoDays: '未来 2 天', week: '未来 7 天', month: '未来 30 天', allQueues: '全部队列', choose: '你的令牌仅限部分队列，请选择其中一个。',
    dueNow: '已到期', dueNowHint: '就绪，尚未投递', firstQueues: (count: number) => `前 ${n(count)} 个队列`, inRange: '此时段内到期', firstTime: '首次', retries: '重试', recurring: '周期消息', runs: '定时任务的运行',
    chart: '到期的消息', bars: (size: string) => `每根柱为 ${size}。`, clickHint: '点击柱可查看消息，拖动可放大。',
    summary: (count: string, peak: string) => `${count}到期。${peak}`,
    peak: (from: string, to: string, count: string) => `最繁忙：${from} 至 ${to}，${count}。`,
    peakTomorrow: (from: string, to: string, count: string) => `明日高峰：${from} 至 ${to}，${count}。`,
    noneTomorrow: '明天没有消息到期。', unknownTomorrow: (from: string) => `明天只统计到 ${from}。`, beyondTomorrow: '服务器在明天之前已停止计数。',
    nothing: '此时段内没有消息到期。',
    horizon: (until: string) => `预测截至 ${until}。`,
    atLeast: (from: string) => `从 ${from} 起，实际数量可能更多：服务器到此停止计数。`,
    zoomed: (from: string, to: string) => `${from} 至 ${to}`, zoomOut: '显示全部',
    table: '以表格显示', tableCaption: '按时间排列的到期消息', time: '时间', due: '到期',
    chosen: (from: string, to: string) => `${from} 至 ${to} 到期`, byQueue: '此时段内有消息的队列',
    searched: (count: number) => `已搜索已排期消息最多的 ${n(count)} 个队列，其余消息在别的队列中。`, noneChosen: '这些队列在此时段内没有消息。', showMessages: '显示消息', ofTheseRuns: '其中定时任务的运行', notYet: '到期时创建', close: '关闭',
  },
)

const DAY_MIN = 1440
// How far each range reaches, and the length of a step of its forecast, both in minutes. A day can be enlarged to its minutes.
const RANGES: Record<string, { minutes: number; step: number }> = {
  hour: { minutes: 60, step: 1 }, six: { minutes: 360, step: 1 }, day: { minutes: DAY_MIN, step: 1 },
  two: { minutes: 2 * DAY_MIN, step: 5 }, week: { minutes: 7 * DAY_MIN, step: 15 }, month: { minutes: 30 * DAY_MIN, step: 60 },
}
// All of tomorrow, wherever the day begins.
const TOMORROW = RANGES.two!
const TOMORROW_SIZE_MS = 15 * 60_000
// The queues of a bar are looked for in this many at once, and in up to 96 in all.
const AT_ONCE = 16
const SEARCHED_MAX = 96

function forecast({ minutes, step }: { minutes: number; step: number }, queue: string | null, signal: AbortSignal): Promise<Forecast> {
  return get<Forecast>(`${prefix()}/forecast`, { minutes, step: `${step}m`, queue }, signal)
}

/** Names of queues in which something may become due: those with the most scheduled messages first, then those of schedules. */
async function namesWithDue(queues: Queue[], signal: AbortSignal): Promise<string[]> {
  const { schedules } = await get<SchedulePage>(inNamespace('schedules'), { limit: 1000 }, signal)
  const waiting = queues.filter((one) => one.scheduled > 0).sort((a, b) => b.scheduled - a.scheduled)
  return [...new Set([...waiting.map((one) => one.queue), ...schedules.map((one) => one.settings.queue)])]
}

function Timeline() {
  const query = route.value.query
  const queue = query.get('queue')
  const range = query.get('range') ?? 'hour'
  const reach = RANGES[range] ?? RANGES.hour!
  const from = Number(query.get('from')) || null
  const to = Number(query.get('to')) || null
  // The forecast of all queues is refused to a token for some of them.
  const skip = queue === null && session.value?.token?.queues !== undefined
  const data = useQuery(['forecast', reach, queue, namespace.value], (signal) => forecast(reach, queue, signal), { every_ms: reach.minutes > 60 ? 15_000 : 5000, skip })
  const ahead = useQuery(['tomorrow', queue, namespace.value], (signal) => forecast(TOMORROW, queue, signal), { every_ms: 60_000, skip })
  const queues = useQuery(['timeline queues', namespace.value], (signal) => allOf<Queue>('queues', signal), { every_ms: 30_000 })
  const chosen = Number(query.get('at')) || null

  return (
    <>
      <PageHead title={queue === null ? t.title : <>{t.title} <Name>{queue}</Name></>} about={t.about} />
      <div class="filters">
        <div class="field">
          <label for="timeline-range">{t.range}</label>
          <select id="timeline-range" value={range} onChange={(event) => setQuery({ range: event.currentTarget.value, from: null, to: null, at: null })}>
            <option value="hour">{t.hour}</option>
            <option value="six">{t.sixHours}</option>
            <option value="day">{t.day}</option>
            <option value="two">{t.twoDays}</option>
            <option value="week">{t.week}</option>
            <option value="month">{t.month}</option>
          </select>
        </div>
        <QueueField queue={queue ?? ''} placeholder={t.allQueues} onChoose={(name) => setQuery({ queue: name || null, at: null })} />
      </div>
      {skip ? (
        <Section><p class="empty">{t.choose}</p></Section>
      ) : data.data ? (
        <Bars forecast={data.data} ahead={ahead.data} step={reach.step} queue={queue} queues={queues.data} from={from} to={to} chosen={chosen} />
      ) : (
        <Pending query={data} />
      )}
    </>
  )
}

interface BarsProps {
  forecast: Forecast
  /** Two days, for tomorrow's peak. */
  ahead: Forecast | null
  /** Minutes of a row. */
  step: number
  queue: string | null
  queues: All<Queue> | null
  from: number | null
  to: number | null
  chosen: number | null
}

function Bars({ forecast: { minutes, now_ms }, ahead, step, queue, queues, from, to, chosen }: BarsProps) {
  const rows = from && to ? minutes.filter((row) => row.start_ms >= from && row.start_ms < to) : minutes
  const step_ms = step * 60_000
  const size = Math.max(step_ms, bucketSize(rows.length * step_ms))
  const buckets = bucketsOf(rows, size)
  const total = buckets.reduce((sum, bucket) => ({ ...sum, due: sum.due + bucket.due, scheduled: sum.scheduled + bucket.scheduled, retrying: sum.retrying + bucket.retrying, recurring: sum.recurring + bucket.recurring, runs: sum.runs + bucket.runs }), { due: 0, scheduled: 0, retrying: 0, recurring: 0, runs: 0 })
  const peak = peakOf(buckets)
  const unsure = rows.find((row) => row.at_least)
  const end = (minutes.at(-1)?.start_ms ?? now_ms) + step_ms
  const peakText = peak ? t.peak(momentOf(peak.start_ms, now_ms), formatTime(peak.end_ms, false), terms.countMessages(peak.due)) : t.nothing
  const bucket = buckets.find((one) => one.start_ms === chosen)
  const ready = queues?.rows.filter((one) => queue === null || one.queue === queue).reduce((sum, one) => sum + one.ready, 0)
  const select = (time: number) => {
    const hit = buckets.find((one) => time * 1000 >= one.start_ms && time * 1000 < one.end_ms)
    if (hit) setQuery({ at: hit.start_ms === chosen ? null : hit.start_ms })
  }
  return (
    <>
      <Figures>
        <Figure name={t.dueNow} value={ready === undefined ? '–' : n(ready)} hint={queue === null && queues?.more ? t.firstQueues(queues.rows.length) : t.dueNowHint} tone={ready ? 'warn' : 'plain'} />
        <Figure name={t.inRange} value={n(total.due)} />
        <Figure name={t.firstTime} value={n(total.scheduled)} />
        <Figure name={t.retries} value={n(total.retrying)} />
        <Figure name={t.recurring} value={n(total.recurring)} />
        <Figure name={t.runs} value={n(total.runs)} />
      </Figures>
      <Section
        title={from && to ? t.zoomed(formatInstant(from), formatInstant(to)) : t.chart}
        aside={from && to ? <Button onClick={() => setQuery({ from: null, to: null, at: null })}>{t.zoomOut}</Button> : t.bars(formatDuration(size))}
      >
        <p>
          <strong>{peakText}</strong>{' '}
          {ahead && tomorrowText(ahead)}{' '}
          <span class="muted">{t.horizon(formatInstant(end))}</span>
        </p>
        {unsure && <p class="note warn">{t.atLeast(formatInstant(unsure.start_ms))}</p>}
        <Chart
          kind="bars" height={240} times={buckets.map((one) => one.start_ms / 1000)} series={[{ label: t.due, values: buckets.map((one) => one.due) }]}
          unit="count" summary={t.summary(terms.countMessages(total.due), peakText)} onClick={select}
          onSelect={(first, last) => {
            const begin = Math.floor((first * 1000) / step_ms) * step_ms
            const finish = Math.max(begin + step_ms, Math.ceil((last * 1000) / step_ms) * step_ms)
            setQuery({ from: begin, to: finish, at: null })
          }}
        />
        <p class="muted small">{t.clickHint}</p>
      </Section>
      {bucket && <Chosen bucket={bucket} queue={queue} queues={queues?.rows} now_ms={now_ms} />}
      <details class="plan-details">
        <summary>{t.table}</summary>
        <Table
          caption={t.tableCaption} rows={buckets.filter((one) => one.due > 0)} rowKey={(row) => String(row.start_ms)} empty={t.nothing}
          columns={[
            { key: 'time', heading: t.time, cell: (row) => <button type="button" class="link" onClick={() => setQuery({ at: row.start_ms })}>{formatInstant(row.start_ms)}</button> },
            { key: 'due', heading: t.due, number: true, cell: (row) => n(row.due) },
            { key: 'scheduled', heading: t.firstTime, number: true, cell: (row) => n(row.scheduled) },
            { key: 'retrying', heading: t.retries, number: true, cell: (row) => n(row.retrying) },
            { key: 'recurring', heading: t.recurring, number: true, cell: (row) => n(row.recurring) },
            { key: 'runs', heading: t.runs, number: true, cell: (row) => n(row.runs) },
          ]}
        />
      </details>
    </>
  )
}

/** The time, with the date if it is not today. */
function momentOf(ms: number, now_ms: number): string {
  return ms < localDay(now_ms, 1) ? formatTime(ms, false) : formatInstant(ms)
}

/** Tomorrow's peak, as far as the forecast counted. */
function tomorrowText({ minutes, now_ms }: Forecast): string {
  const [begin, end] = [localDay(now_ms, 1), localDay(now_ms, 2)]
  const unsure = minutes.find((row) => row.at_least && row.start_ms < end)
  if (unsure && unsure.start_ms <= begin) return t.beyondTomorrow
  const peak = peakOf(bucketsOf(minutes, TOMORROW_SIZE_MS, begin, end))
  const text = peak ? t.peakTomorrow(formatTime(peak.start_ms, false), formatTime(peak.end_ms, false), terms.countMessages(peak.due)) : unsure ? '' : t.noneTomorrow
  return unsure ? `${text} ${t.unknownTomorrow(formatTime(unsure.start_ms, false))}` : text
}

interface Counts {
  queue: string
  due: number
  runs: number
}

/** The messages of a bar by queue: of the chosen one, otherwise of those that are found. */
function Chosen({ bucket, queue, queues, now_ms }: { bucket: Bucket; queue: string | null; queues: Queue[] | undefined; now_ms: number }) {
  const size = bucket.end_ms - bucket.start_ms
  const reach = { minutes: Math.ceil((bucket.end_ms - now_ms) / size + 1) * (size / 60_000), step: size / 60_000 }
  const counts = useQuery(
    ['timeline chosen', bucket.start_ms, bucket.end_ms, queue, namespace.value],
    async (signal) => {
      const names = queue === null ? await namesWithDue(queues ?? [], signal) : [queue]
      const found: Counts[] = []
      let searched = 0
      // Most bars are of few queues, and the search ends when these have all of its messages.
      while (searched < Math.min(names.length, SEARCHED_MAX) && found.reduce((sum, one) => sum + one.due, 0) < bucket.due) {
        const next = names.slice(searched, searched + AT_ONCE)
        searched += next.length
        found.push(...(await Promise.all(next.map(async (name) => {
          const { minutes } = await forecast(reach, name, signal)
          const counted = bucketsOf(minutes, size, bucket.start_ms, bucket.end_ms)[0]
          return { queue: name, due: counted?.due ?? 0, runs: counted?.runs ?? 0 }
        }))))
      }
      return { rows: found.filter((one) => one.due > 0).sort((a, b) => b.due - a.due), searched, more: searched < names.length }
    },
    { skip: queue === null && queues === undefined },
  )
  const messages = (name: string) =>
    href(['messages'], { queue: name, after: new Date(bucket.start_ms).toISOString(), before: new Date(bucket.end_ms).toISOString() })
  const incomplete = counts.data?.more && counts.data.rows.reduce((sum, one) => sum + one.due, 0) < bucket.due
  return (
    <Section
      title={t.chosen(formatInstant(bucket.start_ms), formatTime(bucket.end_ms, false))}
      aside={<Button onClick={() => setQuery({ at: null })}>{t.close}</Button>}
    >
      <p class="muted">{terms.countMessages(bucket.due)} {incomplete && t.searched(counts.data!.searched)}</p>
      {counts.data ? (
        <Table
          caption={t.byQueue} rows={counts.data.rows} rowKey={(row) => row.queue} empty={t.noneChosen}
          columns={[
            { key: 'queue', heading: terms.queue, cell: (row) => <a href={href(['queues', row.queue])}><Name>{row.queue}</Name></a> },
            { key: 'due', heading: t.due, number: true, cell: (row) => n(row.due) },
            { key: 'runs', heading: t.ofTheseRuns, number: true, cell: (row) => row.runs > 0 && n(row.runs) },
            {
              key: 'messages', heading: terms.messages,
              cell: (row) => (row.due > row.runs ? <a href={messages(row.queue)}>{t.showMessages}</a> : <span class="muted">{t.notYet}</span>),
            },
          ]}
        />
      ) : (
        <Pending query={counts} />
      )}
    </Section>
  )
}

export default definePage({
  route: 'timeline',
  title: () => t.title,
  view: Timeline,
  nav: { group: 'work', order: 15, label: () => t.title, key: 't' },
})

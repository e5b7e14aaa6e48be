// The first page: whether the server is well, how fast and how late it delivers, and which queues need attention, and why.
import { useState } from 'preact/hooks'
import { get } from '../api/client'
import { lateness, logLines, rate, samples, stats } from '../api/live'
import { useMetrics, type Metrics } from '../api/metrics'
import { useQuery } from '../api/query'
import { limited } from '../api/session'
import type { LatenessHour, LatenessRow, LogLine, Queue, Readiness, Stats } from '../api/types'
import { definePage } from '../app/page'
import { href } from '../app/router'
import { dictionary } from '../i18n/language'
import { terms } from '../i18n/terms'
import { Chart, Legend } from '../ui/chart'
import { formatBytes, formatCompact, formatDuration, formatNumber, formatRate, formatTime } from '../ui/format'
import { Badge, Figure, Figures, PageHead, Section } from '../ui/parts'
import { Pending, Table, type Column } from '../ui/table'
import { Cut, Name } from '../ui/text'
import { Instant } from '../ui/time'
import { LATE_MS, healthOf, lateText, type Health } from '../ui/queue_health'

const t = dictionary(
  {
    title: 'Overview', healthy: 'The server is healthy', notReady: 'The server is not ready', attention: 'The server needs attention',
    accepted: 'Accepted', delivered: 'Delivered', latenessNow: 'Lateness p99', p50: (text: string) => `p50 ${text}`,
    oldest: 'Oldest overdue', inQueue: (name: string) => `in ${name}`, nothingLate: 'nothing is overdue',
    disk: 'Free disk', dataSize: (text: string) => `${text} of data`, full: 'puts are refused',
    needs: 'What needs attention', calm: 'Nothing. No queue is late, and no message is dead.',
    moreDead: 'Dead letters are kept until they are redriven, discarded, or too old.',
    latenessTitle: 'Lateness of deliveries', lastHour: 'last hour', noDelivery: 'No message was delivered in the last hour.', sinceOpen: 'since this page was opened',
    throughput: 'Messages per second',
    latenessSummary: (p50: string, p99: string) => `Lateness over time. Now p50 ${p50}, p99 ${p99}.`,
    rateSummary: (a: string, d: string) => `Messages per second over time. Now ${a} accepted, ${d} delivered.`,
    busiest: 'Busiest queues', allQueues: 'All queues', limited: 'Your token is for some queues or namespaces only. The figures of the whole server are not shown to it.', noQueues: 'No queue yet. A queue exists from its first message or its settings.',
    noQueuesHow: 'Put a message with the command line:', log: 'Log', logAbout: 'warnings and errors, the newest first',
    why: 'Why', overdue: 'Overdue', gathering: 'The first values arrive in a few seconds.', version: (text: string) => `version ${text}`,
    kafkaDown: 'No Kafka broker is connected', stalled: 'Puts wait for the disk',
    leased: (n: number) => `${formatCompact(n)} leased`,
  },
  {
    title: '总览', healthy: '服务器正常', notReady: '服务器未就绪', attention: '服务器需要关注',
    accepted: '接收', delivered: '投递', latenessNow: '延迟 p99', p50: (text: string) => `p50 ${text}`,
    oldest: '最久逾期', inQueue: (name: string) => `队列 ${name}`, nothingLate: '没有逾期消息',
    disk: '磁盘剩余', dataSize: (text: string) => `数据 ${text}`, full: '拒绝新消息',
    needs: '需要关注', calm: '无。没有迟到的队列，也没有死信。',
    moreDead: '死信会一直保留，直到重新投递、丢弃或过期。',
    latenessTitle: '投递延迟', lastHour: '最近一小时', noDelivery: '最近一小时没有投递消息。', sinceOpen: '自打开本页以来',
    throughput: '每秒消息数',
    latenessSummary: (p50: string, p99: string) => `延迟随时间变化。当前 p50 ${p50}，p99 ${p99}。`,
    rateSummary: (a: string, d: string) => `每秒消息数随时间变化。当前接收 ${a}，投递 ${d}。`,
    busiest: '最繁忙的队列', allQueues: '全部队列', limited: '你的令牌仅限部分队列或命名空间，无法查看整个服务器的数据。', noQueues: '还没有队列。收到第一条消息或设置后队列即存在。',
    noQueuesHow: '用命令行放入一条消息：', log: '日志', logAbout: '警告和错误，最新在前',
    why: '原因', overdue: '逾期', gathering: '几秒后显示第一批数据。', version: (text: string) => `版本 ${text}`,
    kafkaDown: '没有连接任何 Kafka broker', stalled: '写入正在等待磁盘',
    leased: (n: number) => `已租出 ${formatCompact(n)}`,
  },
)

const LATE_QUEUES_MAX = 8
const BUSIEST_MAX = 10

interface Attention {
  key: string
  queue?: { name: string; namespace: string }
  what: string
  age_ms?: number
  health: Health
  link?: string
}

/** The queues that are late, each with the state that explains it. */
async function explainLate(metrics: Metrics | null, signal: AbortSignal): Promise<Attention[]> {
  const late = (metrics?.oldest ?? []).filter(({ age_ms }) => age_ms >= LATE_MS).sort((a, b) => b.age_ms - a.age_ms)
  const found = await Promise.allSettled(
    late.slice(0, LATE_QUEUES_MAX).map(async ({ namespace, queue, age_ms }) => {
      const prefix = namespace === 'default' ? '/v1' : `/v1/namespaces/${encodeURIComponent(namespace)}`
      const state = await get<Queue>(`${prefix}/queues/${encodeURIComponent(queue)}`, {}, signal)
      return { key: `late ${namespace}/${queue}`, queue: { name: queue, namespace }, what: lateText(age_ms), age_ms, health: healthOf(state, age_ms) }
    }),
  )
  return found.filter((one) => one.status === 'fulfilled').map((one) => one.value)
}

function serverProblems(now: Stats, metrics: Metrics | null, readiness: Readiness | null): Attention[] {
  const list: Attention[] = []
  const add = (key: string, what: string, bad: boolean, link?: string) =>
    list.push({ key, what, health: { tone: bad ? 'bad' : 'warn', reason: '' }, link })
  if (readiness?.reason) add('readyz', readiness.reason, !readiness.ready, href(['health']))
  if (metrics?.values.get('duewheel_store_full') === 1) add('disk', `${t.disk}: ${t.full}`, true)
  if (now.puts_stalled) add('stalled', t.stalled, false)
  if (now.kafka && now.kafka.brokers_up === 0) add('kafka', t.kafkaDown, true)
  return list
}

function deadProblems(now: Stats): Attention[] {
  return now.queues
    .filter((queue) => queue.dead > 0)
    .sort((a, b) => b.dead - a.dead)
    .slice(0, LATE_QUEUES_MAX)
    .map((queue) => ({
      key: `dead ${queue.namespace ?? 'default'}/${queue.queue}`,
      queue: { name: queue.queue, namespace: queue.namespace ?? 'default' },
      what: terms.countDead(queue.dead),
      health: { tone: 'warn' as const, reason: t.moreDead },
      link: href(['dead'], { queue: queue.queue, ns: queue.namespace ?? 'default' }),
    }))
}

function AttentionList({ items }: { items: Attention[] }) {
  const columns: Column<Attention>[] = [
    {
      key: 'queue', heading: terms.queue,
      cell: (row) => row.queue && (
        <a href={href(['queues', row.queue.name], { ns: row.queue.namespace })}>
          {row.queue.namespace !== 'default' && <span class="muted"><Name>{row.queue.namespace}</Name> / </span>}
          <Name>{row.queue.name}</Name>
        </a>
      ),
    },
    {
      key: 'what', heading: t.overdue,
      cell: (row) => {
        const badge = <Badge tone={row.health.tone}>{row.what}</Badge>
        return row.link ? <a href={row.link}>{badge}</a> : badge
      },
    },
    { key: 'why', heading: t.why, cell: (row) => row.health.reason },
  ]
  return <Table caption={t.needs} columns={columns} rows={items} rowKey={(row) => row.key} empty={<p>{t.calm}</p>} />
}

type Point = Pick<LatenessRow, 'time_ms'> & { p50_ms: number | null; p99_ms: number | null }

/** The server omits rows without deliveries; the line has a gap there. */
function withGaps(rows: LatenessRow[], row_ms: number): Point[] {
  const points: Point[] = []
  for (const [index, row] of rows.entries()) {
    const before = rows[index - 1]
    if (before && row.time_ms - before.time_ms > row_ms) points.push({ time_ms: before.time_ms + row_ms, p50_ms: null, p99_ms: null })
    points.push(row)
  }
  return points
}

const RANGE_MIN_MS = 60_000

function LatenessChart() {
  const hour = useQuery(['lateness', lateness.value?.time_ms], (signal) => get<LatenessHour>('/v1/lateness', { window: '1h' }, signal), { every_ms: 15_000 })
  const [shown, setShown] = useState<LatenessHour | null>(null)
  if (hour.data && hour.data !== shown) setShown(hour.data)
  if (!shown) return <Section title={t.latenessTitle}><Pending query={hour} /></Section>
  const points = withGaps(shown.rows, shown.row_ms)
  const last = shown.rows.at(-1)
  // A server that has just started has no hour to show.
  const from_ms = Math.max(shown.from_ms, Math.min(shown.rows[0]?.time_ms ?? 0, shown.until_ms - RANGE_MIN_MS))
  return (
    <Section title={t.latenessTitle} aside={t.lastHour}>
      {!last ? (
        <p class="empty">{t.noDelivery}</p>
      ) : (
        <>
          <Legend series={['p50', 'p99']} />
          <Chart
            times={points.map((point) => point.time_ms / 1000)} format={formatDuration} top={10} range={[from_ms / 1000, shown.until_ms / 1000]}
            series={[{ label: 'p50', values: points.map((point) => point.p50_ms) }, { label: 'p99', values: points.map((point) => point.p99_ms) }]}
            summary={t.latenessSummary(formatDuration(last.p50_ms), formatDuration(last.p99_ms))}
          />
        </>
      )}
    </Section>
  )
}

const RATE_WINDOW_MS = 10_000

function RateChart() {
  const all = samples.value
  let begin = 0
  const rows = all.slice(1).map((sample) => {
    while (all[begin]!.at_ms < sample.at_ms - RATE_WINDOW_MS) begin += 1
    const first = all[begin]!
    const seconds = (sample.at_ms - first.at_ms) / 1000
    return seconds > 0 ? { sample, accepted: (sample.accepted - first.accepted) / seconds, delivered: (sample.delivered - first.delivered) / seconds } : null
  }).filter((row) => row !== null)
  const last = rows.at(-1)
  return (
    <Section title={t.throughput} aside={t.sinceOpen}>
      {!last || rows.length < 2 ? (
        <p class="empty">{t.gathering}</p>
      ) : (
        <>
          <Legend series={[t.accepted, t.delivered]} />
          <Chart
            times={rows.map((row) => row.sample.server_time_ms / 1000)} format={formatCompact} top={10}
            series={[{ label: t.accepted, values: rows.map((row) => row.accepted) }, { label: t.delivered, values: rows.map((row) => row.delivered) }]}
            summary={t.rateSummary(formatRate(last.accepted), formatRate(last.delivered))}
          />
        </>
      )}
    </Section>
  )
}

function Busiest({ now, metrics }: { now: Stats; metrics: Metrics | null }) {
  const rows = now.queues.slice(0, BUSIEST_MAX)
  const age = (row: Stats['queues'][number]) =>
    metrics?.oldest.find((one) => one.queue === row.queue && one.namespace === (row.namespace ?? 'default'))?.age_ms ?? 0
  const columns: Column<Stats['queues'][number]>[] = [
    {
      key: 'queue', heading: terms.queue,
      cell: (row) => (
        <a href={href(['queues', row.queue], { ns: row.namespace ?? 'default' })}>
          {row.namespace && <span class="muted"><Name>{row.namespace}</Name> / </span>}
          <Name>{row.queue}</Name>
        </a>
      ),
    },
    { key: 'ready', heading: terms.ready, number: true, cell: (row) => <>{formatNumber(row.ready)}{row.backlog_on_disk && '+'}</> },
    { key: 'leased', heading: terms.leased, number: true, cell: (row) => formatNumber(row.leased) },
    { key: 'waiters', heading: terms.consumers, number: true, cell: (row) => formatNumber(row.waiters) },
    { key: 'dead', heading: terms.dead, number: true, cell: (row) => (row.dead > 0 ? <Badge tone="warn">{formatNumber(row.dead)}</Badge> : '0') },
    { key: 'age', heading: t.overdue, number: true, cell: (row) => (age(row) >= 1000 ? formatDuration(age(row)) : '') },
  ]
  return (
    <Section title={t.busiest} aside={<a href={href(['queues'])}>{t.allQueues}</a>}>
      <Table
        caption={t.busiest} columns={columns} rows={rows} rowKey={(row) => `${row.namespace ?? 'default'}/${row.queue}`}
        empty={<><p>{t.noQueues}</p><p>{t.noQueuesHow}</p><p><code>duewheel put mail 'hello in five seconds' --in 5s</code></p></>}
      />
    </Section>
  )
}

function LogEntry({ line }: { line: LogLine }) {
  const { time_ms, level, event, message, ...details } = line
  const text = Object.entries(details).map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`).join(' ')
  return (
    <>
      <Instant ms={time_ms} /> <Badge tone={/^(error|fatal)$/.test(level) ? 'bad' : 'warn'}>{event}</Badge>{' '}
      {message && <Cut text={message} max={240} />} <span class="muted"><Cut text={text} max={160} /></span>
    </>
  )
}

function Log() {
  if (logLines.value.length === 0) return null
  return (
    <Section title={t.log} aside={t.logAbout}>
      <ul class="log">
        {logLines.value.slice(0, 20).map((line, index) => (
          <li key={index}><LogEntry line={line} /></li>
        ))}
      </ul>
    </Section>
  )
}

/** A token for some queues sees no figures of the whole server. */
function Limited() {
  return (
    <>
      <PageHead title={t.title} />
      <Section><p>{t.limited}</p><p><a href={href(['queues'])}>{t.allQueues}</a></p></Section>
    </>
  )
}

function Overview() {
  return limited.value ? <Limited /> : <WholeServer />
}

function WholeServer() {
  const metrics = useMetrics()
  const readiness = useQuery(['readyz'], async (signal) => {
    // 503 is an answer here, too.
    const response = await fetch('/readyz', { cache: 'no-store', signal })
    return (await response.json()) as Readiness
  }, { every_ms: 10_000 })
  const ages = metrics.data?.oldest.filter(({ age_ms }) => age_ms >= LATE_MS).map(({ namespace, queue }) => `${namespace}/${queue}`) ?? []
  const late = useQuery(['late', ages], (signal) => explainLate(metrics.data, signal), { every_ms: 10_000, skip: !metrics.data })
  const now = stats.value
  if (!now) return <><PageHead title={t.title} /><Pending query={{ data: null, error: null, loading: true, reload: () => undefined }} /></>

  const items = [...serverProblems(now, metrics.data, readiness.data), ...(late.data ?? []), ...deadProblems(now)]
  const bad = items.some((item) => item.health.tone === 'bad')
  const state = readiness.data && !readiness.data.ready ? t.notReady : bad ? t.attention : t.healthy
  const accepted = rate('accepted')
  const delivered = rate('delivered')
  const oldest = [...(metrics.data?.oldest ?? [])].sort((a, b) => b.age_ms - a.age_ms)[0]
  const free = metrics.data?.values.get('duewheel_disk_free_bytes')
  const size = (metrics.data?.values.get('duewheel_log_bytes') ?? 0) + (metrics.data?.values.get('duewheel_index_bytes') ?? 0)
  const full = metrics.data?.values.get('duewheel_store_full') === 1
  return (
    <>
      <PageHead
        title={t.title}
        about={<><Badge tone={bad ? 'bad' : items.length > 0 ? 'warn' : 'good'}>{state}</Badge>{' '}
          {formatTime(now.server_time_ms)}{metrics.data?.version && ` · ${t.version(metrics.data.version)}`}</>}
      />
      <Figures>
        <Figure name={t.accepted} value={accepted === null ? '–' : terms.perSecond(formatRate(accepted))} hint={formatCompact(now.accepted)} />
        <Figure name={t.delivered} value={delivered === null ? '–' : terms.perSecond(formatRate(delivered))} hint={formatCompact(now.delivered)} />
        <Figure name={t.latenessNow} value={formatDuration(now.lateness_p99_ms)} hint={t.p50(formatDuration(now.lateness_p50_ms))} />
        <Figure name={terms.pending} value={formatCompact(now.pending)} hint={terms.countQueues(now.queue_count)} link={href(['queues'])} />
        <Figure name={terms.ready} value={formatCompact(now.ready)} hint={t.leased(now.leased)} />
        <Figure
          name={t.oldest} tone={oldest && oldest.age_ms >= LATE_MS ? 'bad' : 'plain'}
          value={oldest && oldest.age_ms >= 1000 ? formatDuration(oldest.age_ms, 1) : '–'}
          hint={oldest && oldest.age_ms >= 1000 ? <Name>{t.inQueue(oldest.queue)}</Name> : t.nothingLate}
          link={oldest && oldest.age_ms >= 1000 ? href(['queues', oldest.queue], { ns: oldest.namespace }) : undefined}
        />
        <Figure name={terms.deadLetters} value={formatCompact(now.dead_letters)} tone={now.dead_letters > 0 ? 'warn' : 'plain'} link={href(['dead'])} />
        <Figure
          name={t.disk} tone={full ? 'bad' : 'plain'} value={free === undefined ? '–' : formatBytes(free)}
          hint={full ? t.full : size > 0 ? t.dataSize(formatBytes(size)) : undefined}
        />
      </Figures>
      <Section title={t.needs}><AttentionList items={items} /></Section>
      <div class="columns">
        <LatenessChart />
        <RateChart />
      </div>
      <Busiest now={now} metrics={metrics.data} />
      <Log />
    </>
  )
}

export default definePage({ route: '', title: () => t.title, view: Overview, nav: { group: 'work', order: 10, label: () => t.title, key: 'o' } })

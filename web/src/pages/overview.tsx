// The first page: whether the server is well, how fast and how late it delivers, and which queues need attention, and why.
import { get, prefix } from '../api/client'
import { logLines, rate, samples, stats, type LogLine } from '../api/live'
import { useMetrics } from '../api/metrics'
import type { Queue, QueueStats, Stats } from '../api/openapi'
import { useQuery } from '../api/query'
import { ageOf, LATE_MS, useBusiest, type Busiest } from '../api/queues'
import { type Readiness, useReadiness } from '../api/readiness'
import { can, limited } from '../api/session'
import { definePage } from '../app/page'
import { href } from '../app/router'
import { dictionary, plural } from '../i18n/language'
import { terms } from '../i18n/terms'
import { Chart, Legend } from '../ui/chart'
import { formatBytes, formatCompact, formatDuration, formatNumber, formatRate, formatTime } from '../ui/format'
import { Badge, Figure, Figures, PageHead, Section, type Tone } from '../ui/parts'
import { Pending, Table, type Column } from '../ui/table'
import { Cut, Name } from '../ui/text'
import { Instant } from '../ui/time'
import { LatenessChart } from '../ui/lateness_chart'
import { healthOf, lateText, type Health } from '../ui/queue_health'

const t = dictionary(
  {
    title: 'Overview', healthy: 'The server is healthy', notReady: 'The server is not ready', attention: 'The server needs attention',
    accepted: 'Accepted', delivered: 'Delivered', latenessNow: 'Lateness p99', waitNow: 'Wait p99', p50: (text: string) => `p50 ${text}`,
    oldest: 'Oldest overdue', inQueue: (name: string) => `in ${name}`, nothingLate: 'nothing is overdue',
    disk: 'Free disk', dataSize: (text: string) => `${text} of data`, full: 'puts are refused',
    moreLate: (n: number) => (n > 0 ? `${formatNumber(n)} more ${plural(n, 'queue is', 'queues are')} late` : 'Other queues may be late'), notExamined: 'Only the 1,000 queues with the most ready and leased messages were examined.',
    otherDead: 'In other queues.', noRead: 'Your token may not read: it lacks the scope read. The pages stay empty.', sinceStart: (n: string) => `${n} since the start`,
    needs: 'What needs attention', calm: 'Nothing. No queue is late, and no message is dead.',
    moreDead: 'Dead letters are kept until they are redriven, discarded, or too old.',
    throughput: 'Messages per second', lastMinutes: 'up to 15 minutes, while this page is open',
    rateSummary: (a: string, d: string) => `Messages per second over time. Now ${a} accepted, ${d} delivered.`,
    busiest: 'Busiest queues', allQueues: 'All queues', limited: 'Your token is for some queues or namespaces only. The figures of the whole server are not shown to it.', noQueues: 'No queue yet. A queue exists from its first message or its settings.',
    noQueuesHow: 'Put a message with the command line:', log: 'Log', logAbout: 'warnings and errors, the newest first',
    why: 'Why', overdue: 'Overdue', gathering: 'The first values arrive in a few seconds.', version: (text: string) => `version ${text}`,
    kafkaDown: 'No Kafka broker is connected', stalled: 'Puts wait for the disk',
    leased: (n: number) => `${formatCompact(n)} leased`,
  },
  {
    title: '总览', healthy: '服务器正常', notReady: '服务器未就绪', attention: '服务器需要关注',
    accepted: '接收', delivered: '投递', latenessNow: '滞后 p99', waitNow: '等待 p99', p50: (text: string) => `p50 ${text}`,
    oldest: '最久逾期', inQueue: (name: string) => `队列 ${name}`, nothingLate: '没有逾期消息',
    disk: '磁盘剩余', dataSize: (text: string) => `数据 ${text}`, full: '拒绝写入新消息',
    moreLate: (n: number) => (n > 0 ? `还有 ${formatNumber(n)} 个队列迟到` : '其他队列可能迟到'), notExamined: '只检查了就绪和已租出消息最多的 1,000 个队列。',
    otherDead: '在其他队列中。', noRead: '你的令牌没有 read 权限，因此页面为空。', sinceStart: (n: string) => `启动以来 ${n}`,
    needs: '需要关注', calm: '无。没有迟到的队列，也没有死信。',
    moreDead: '死信会一直保留，直到重新投递、丢弃或过期。',
    throughput: '每秒消息数', lastMinutes: '本页打开期间，最多 15 分钟',
    rateSummary: (a: string, d: string) => `每秒消息数随时间变化。当前接收 ${a}，投递 ${d}。`,
    busiest: '最繁忙的队列', allQueues: '全部队列', limited: '你的令牌仅限部分队列或命名空间，无法查看整个服务器的数据。', noQueues: '还没有队列。收到第一条消息或设置后队列即存在。',
    noQueuesHow: '用命令行放入一条消息：', log: '日志', logAbout: '警告和错误，最新在前',
    why: '原因', overdue: '逾期', gathering: '几秒后显示第一批数据。', version: (text: string) => `版本 ${text}`,
    kafkaDown: '没有连接任何 Kafka broker', stalled: '写入正在等待磁盘',
    leased: (n: number) => `已租出 ${formatCompact(n)}`,
  },
)

const LISTED_MAX = 8
const BUSIEST_MAX = 10

interface Attention {
  key: string
  queue?: { name: string; namespace: string }
  what: string
  reason: string
  tone: Tone
  link?: string
}

type Place = Required<Attention>['queue']

function placeOf({ queue, namespace }: QueueStats): Place {
  return { name: queue, namespace: namespace ?? 'default' }
}

type Due = Place & { age_ms: number }

/** Queues with due messages, the latest first. */
function dueQueues({ queues, at_ms }: Busiest): Due[] {
  return queues.map((row) => ({ ...placeOf(row), age_ms: ageOf(row, at_ms) })).filter(({ age_ms }) => age_ms > 0).sort((a, b) => b.age_ms - a.age_ms)
}

/** The state of each queue, which explains why it is late; null where it is not known. */
async function statesOf(queues: Place[], signal: AbortSignal): Promise<(Queue | null)[]> {
  return Promise.all(queues.map(({ name, namespace }) => get<Queue>(`${prefix(namespace)}/queues/${encodeURIComponent(name)}`, {}, signal).catch(() => null)))
}

function lateProblems(late: Due[], states: (Queue | null)[], more: boolean): Attention[] {
  const list: Attention[] = late.slice(0, LISTED_MAX).map(({ name, namespace, age_ms }, index) => {
    const state = states[index]
    const health: Health = state ? healthOf(state, age_ms) : { tone: 'bad', reason: '' }
    return { key: `late ${namespace}/${name}`, queue: { name, namespace }, what: lateText(age_ms), ...health }
  })
  const rest = late.length - list.length
  if (rest > 0 || more) list.push({ key: 'late more', what: t.moreLate(rest), reason: more ? t.notExamined : '', tone: 'bad', link: href(['queues'], { sort: 'age', ns: null }) })
  return list
}

function serverProblems(now: Stats, full: boolean, readiness: Readiness | null): Attention[] {
  const list: Attention[] = []
  const add = (key: string, what: string, bad: boolean, link?: string) => list.push({ key, what, reason: '', tone: bad ? 'bad' : 'warn', link })
  if (readiness?.reason) add('readyz', readiness.reason, !readiness.ready, href(['health']))
  if (full) add('disk', `${t.disk}: ${t.full}`, true)
  if (now.puts_stalled) add('stalled', t.stalled, false)
  if (now.kafka && now.kafka.brokers_up === 0) add('kafka', t.kafkaDown, true)
  return list
}

function deadProblems({ queues, dead_letters }: Busiest): Attention[] {
  const dead = queues.filter((queue) => queue.dead > 0).sort((a, b) => b.dead - a.dead).slice(0, LISTED_MAX)
  const list: Attention[] = dead.map((row) => ({
    key: `dead ${row.namespace ?? 'default'}/${row.queue}`, queue: placeOf(row), what: terms.countDead(row.dead), reason: t.moreDead, tone: 'warn',
    link: href(['dead'], { queue: row.queue, ns: row.namespace ?? 'default' }),
  }))
  const rest = dead_letters - dead.reduce((sum, row) => sum + row.dead, 0)
  if (rest > 0) list.push({ key: 'dead more', what: terms.countDead(rest), reason: t.otherDead, tone: 'warn', link: href(['dead'], { ns: null }) })
  return list
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
        const badge = <Badge tone={row.tone}>{row.what}</Badge>
        return row.link ? <a href={row.link}>{badge}</a> : badge
      },
    },
    { key: 'why', heading: t.why, cell: (row) => row.reason },
  ]
  return <Table caption={t.needs} columns={columns} rows={items} rowKey={(row) => row.key} empty={<p>{t.calm}</p>} />
}

const RATE_WINDOW_MS = 10_000

function RateChart() {
  const all = samples.value
  let begin = 0
  // Without samples in the time before, as after the page was in the background, the line has a gap.
  const rows = all.slice(1).map((sample) => {
    while (all[begin]!.at_ms < sample.at_ms - RATE_WINDOW_MS) begin += 1
    const first = all[begin]!
    const seconds = (sample.at_ms - first.at_ms) / 1000
    return { sample, accepted: seconds > 0 ? (sample.accepted - first.accepted) / seconds : null, delivered: seconds > 0 ? (sample.delivered - first.delivered) / seconds : null }
  })
  const last = rows.at(-1)
  return (
    <Section title={t.throughput} aside={t.lastMinutes}>
      {!last || rows.length < 2 ? (
        <p class="empty">{t.gathering}</p>
      ) : (
        <>
          <Legend series={[t.accepted, t.delivered]} />
          <Chart
            times={rows.map((row) => row.sample.server_time_ms / 1000)} unit="rate" top={10}
            series={[{ label: t.accepted, values: rows.map((row) => row.accepted) }, { label: t.delivered, values: rows.map((row) => row.delivered) }]}
            summary={t.rateSummary(formatRate(last.accepted ?? 0), formatRate(last.delivered ?? 0))}
          />
        </>
      )}
    </Section>
  )
}

function BusiestQueues({ now }: { now: Stats }) {
  const rows = now.queues.slice(0, BUSIEST_MAX)
  const columns: Column<QueueStats>[] = [
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
    { key: 'age', heading: t.overdue, number: true, cell: (row) => { const age_ms = ageOf(row, now.server_time_ms); return age_ms >= 1000 ? formatDuration(age_ms) : '' } },
  ]
  return (
    <Section title={t.busiest} aside={<a href={href(['queues'])}>{t.allQueues}</a>}>
      <Table
        caption={t.busiest} columns={columns} rows={rows} rowKey={(row) => `${row.namespace ?? 'default'}/${row.queue}`}
        empty={<><p>{t.noQueues}</p><p>{t.noQueuesHow}</p><p><code>duewheel put mail 'hello in five seconds' --delay 5s</code></p></>}
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

/** A token that may not see the figures of the whole server. */
function Limited() {
  return (
    <>
      <PageHead title={t.title} />
      <Section>{can('read') ? <><p>{t.limited}</p><p><a href={href(['queues'])}>{t.allQueues}</a></p></> : <p>{t.noRead}</p>}</Section>
    </>
  )
}

function Overview() {
  return limited.value || !can('read') ? <Limited /> : <WholeServer />
}

function WholeServer() {
  const metrics = useMetrics()
  const readiness = useReadiness()
  const busiest = useBusiest()
  const due = busiest.data && dueQueues(busiest.data)
  const late = due?.filter(({ age_ms }) => age_ms >= LATE_MS)
  const listed = late?.slice(0, LISTED_MAX) ?? []
  const states = useQuery(['late', listed.map(({ namespace, name }) => `${namespace}/${name}`)], (signal) => statesOf(listed, signal), { every_ms: 10_000, skip: !late })
  const now = stats.value
  const loading = <Pending query={{ data: null, error: busiest.error, loading: true, reload: busiest.reload }} />
  if (!now || !due || !late) return <><PageHead title={t.title} />{loading}</>

  const full = metrics.data?.values.get('duewheel_store_full') === 1
  const items = [...serverProblems(now, full, readiness.data), ...lateProblems(late, states.data ?? [], busiest.data!.more), ...deadProblems(busiest.data!)]
  const bad = items.some((item) => item.tone === 'bad')
  const state = readiness.data && !readiness.data.ready ? t.notReady : bad ? t.attention : t.healthy
  const accepted = rate('accepted')
  const delivered = rate('delivered')
  const oldest = due[0] && due[0].age_ms >= 1000 ? due[0] : null
  const size = (metrics.data?.values.get('duewheel_log_bytes') ?? 0) + (metrics.data?.values.get('duewheel_index_bytes') ?? 0)
  return (
    <>
      <PageHead
        title={t.title}
        about={<><Badge tone={bad ? 'bad' : items.length > 0 ? 'warn' : 'good'}>{state}</Badge>{' '}
          {formatTime(now.server_time_ms)} · {t.version(now.version)}</>}
      />
      <Figures>
        <Figure name={t.accepted} value={accepted === null ? '–' : terms.perSecond(formatRate(accepted))} hint={t.sinceStart(formatCompact(now.accepted))} />
        <Figure name={t.delivered} value={delivered === null ? '–' : terms.perSecond(formatRate(delivered))} hint={t.sinceStart(formatCompact(now.delivered))} />
        <Figure name={t.latenessNow} value={formatDuration(now.lateness_p99_ms)} hint={t.p50(formatDuration(now.lateness_p50_ms))} />
        <Figure name={t.waitNow} value={formatDuration(now.wait_p99_ms)} hint={t.p50(formatDuration(now.wait_p50_ms))} />
        <Figure name={terms.pending} value={formatCompact(now.pending)} hint={terms.countQueues(now.queue_count)} link={href(['queues'])} />
        <Figure name={terms.ready} value={formatCompact(now.ready)} hint={t.leased(now.leased)} />
        <Figure
          name={t.oldest} tone={late.length > 0 ? 'bad' : 'plain'}
          value={oldest ? formatDuration(oldest.age_ms, 1) : '–'}
          hint={oldest ? <Name>{t.inQueue(oldest.name)}</Name> : t.nothingLate}
          link={oldest ? href(['queues', oldest.name], { ns: oldest.namespace }) : undefined}
        />
        <Figure name={terms.deadLetters} value={formatCompact(now.dead_letters)} tone={now.dead_letters > 0 ? 'warn' : 'plain'} link={href(['dead'])} />
        <Figure
          name={t.disk} tone={full ? 'bad' : 'plain'} value={formatBytes(now.disk_free_bytes)}
          hint={full ? t.full : size > 0 ? t.dataSize(formatBytes(size)) : undefined}
        />
      </Figures>
      <Section title={t.needs}><AttentionList items={items} /></Section>
      <div class="columns">
        <LatenessChart />
        <RateChart />
      </div>
      <BusiestQueues now={now} />
      <Log />
    </>
  )
}

export default definePage({ route: '', title: () => t.title, view: Overview, nav: { group: 'work', order: 10, label: () => t.title, key: 'o' } })

// The health of the server: clock, disk and store, limits, Kafka, recent warnings.
import { get, post, prefix } from '../api/client'
import { useEventPath } from '../api/docs'
import { logLines, source, stats, type LogLine } from '../api/live'
import { useMetrics } from '../api/metrics'
import type { Metrics } from '../api/metrics_text'
import type { Clock, Forecast, Stats } from '../api/openapi'
import { useQuery } from '../api/query'
import { useReadiness } from '../api/readiness'
import { can, limited } from '../api/session'
import { definePage } from '../app/page'
import { t } from '../health/text'
import { confirm } from '../ui/dialog'
import { formatBytes, formatDuration, formatInstant, formatNumber as n, formatPercent } from '../ui/format'
import { Badge, Button, Facts, Figure, Figures, Meter, PageHead, Section, type Tone } from '../ui/parts'
import { Pending, Table } from '../ui/table'
import { Cut } from '../ui/text'
import { Instant } from '../ui/time'
import './plan.css'

const LIMITS_SHOWN = 8
const DAY_MS = 86_400_000

function Health() {
  const metrics = useMetrics()
  return (
    <>
      <PageHead title={t.title} about={t.about} />
      <Ready />
      <div class="columns">
        <ClockSection />
        {metrics.data ? <StoreSection metrics={metrics.data} /> : <Section title={t.store}><Pending query={metrics} /></Section>}
      </div>
      {metrics.data && <Limits limits={metrics.data.limits} />}
      <Kafka kafka={stats.value?.kafka} />
      <Warnings />
    </>
  )
}

function Ready() {
  const query = useReadiness()
  if (!query.data) return <Pending query={query} />
  const { ready, reason } = query.data
  return (
    <p class={`note ${ready ? (reason ? 'warn' : 'good') : 'bad'}`}>
      <strong>{ready ? (reason ? t.readyBut : t.ready) : t.notReady}</strong> {reason && <Cut text={reason} max={300} />}
    </p>
  )
}

const CLOCK_TONES: Record<Clock['state'], Tone> = { steady: 'good', slow: 'warn', quarantine: 'warn', held: 'bad', test: 'warn' }

function ClockSection() {
  const query = useQuery(['clock'], (signal) => get<Clock>('/v1/clock', {}, signal), { every_ms: 2000 })
  const clock = query.data
  const about = clock && { steady: t.steadyAbout, slow: t.slowAbout, quarantine: t.quarantineAbout, held: t.heldAbout, test: t.testAbout }[clock.state]
  const doubted = clock?.state === 'held' || clock?.state === 'quarantine'
  return (
    <Section title={t.clock} aside={clock && doubted && can('admin') && <Button onClick={() => void acceptClock(clock)}>{t.accept}</Button>}>
      {clock ? (
        <>
          <p class="form-about"><Badge tone={CLOCK_TONES[clock.state]}>{t[clock.state]}</Badge> {about}</p>
          <Facts
            facts={[
              [t.serverTime, <Instant ms={clock.server_time_ms} />],
              [t.wallClock, <Instant ms={clock.wall_clock_ms} />],
              [clock.wall_clock_ahead_ms < 0 ? t.behind : t.ahead, formatDuration(Math.abs(clock.wall_clock_ahead_ms))],
              [t.onJump, clock.on_jump === 'hold' ? t.onJumpHold : t.onJumpAccept],
              [t.jumps, n(clock.jumps)],
            ]}
          />
        </>
      ) : (
        <Pending query={query} />
      )}
    </Section>
  )
}

/** Asks with what the jump makes due, as far as a forecast reaches. */
async function acceptClock(clock: Clock) {
  const jump = clock.wall_clock_ahead_ms
  const minutes = Math.max(1, Math.min(1440, Math.ceil(jump / 60_000)))
  let due: string | null = null
  try {
    const { total, exact } = await get<Forecast>(`${prefix()}/forecast`, { minutes })
    due = t.acceptDue(total.due, jump > DAY_MS || !exact)
  } catch {
    // The dialog opens without the number.
  }
  confirm({
    title: t.acceptTitle, what: <><p>{t.acceptWhat(formatDuration(jump), formatInstant(clock.wall_clock_ms))}</p>{due && <p>{due}</p>}</>,
    verb: t.accept, danger: true, run: () => post<Clock>('/v1/clock:accept'), done: () => t.accepted,
  })
}

function StoreSection({ metrics: { values } }: { metrics: Metrics }) {
  const value = (name: string) => values.get(`duewheel_${name}`) ?? 0
  const full = value('store_full') === 1
  const stalled = value('puts_stalled') === 1
  const log = value('log_bytes')
  return (
    <Section title={t.store}>
      {full && <p class="note bad">{t.storeFull} {value('store_reserve_only') === 1 && t.reserveOnly}</p>}
      <Facts
        facts={[
          [t.puts, <Badge tone={full ? 'bad' : stalled ? 'warn' : 'good'}>{full ? t.putsRefused : stalled ? t.putsStalled : t.putsOk}</Badge>],
          [t.diskFree, formatBytes(value('disk_free_bytes'))],
          [t.logSize, `${formatBytes(log)}, ${log > 0 ? formatPercent(value('log_live_bytes') / log) : '–'} ${t.liveShare}`],
          [t.index, formatBytes(value('index_bytes'))],
          [t.segments, n(value('log_unindexed_segments'))],
          [t.spare, n(value('log_spare_segments'))],
          [t.compaction, value('log_compaction_running') === 1 ? t.running : t.idle],
          [t.inMemory, n(value('messages_in_memory'))],
          [t.memory, formatBytes(value('message_memory_bytes'))],
          [t.loadedUntil, value('loaded_until_timestamp_seconds') > 0 && <Instant ms={Math.round(value('loaded_until_timestamp_seconds') * 1000)} />],
        ]}
      />
    </Section>
  )
}

function Limits({ limits }: { limits: Metrics['limits'] }) {
  return (
    <Section title={t.limits} aside={t.limitsAbout}>
      <Table
        caption={t.limits} rows={limits.slice(0, LIMITS_SHOWN)} rowKey={(row) => row.name} empty={t.noLimits}
        columns={[
          { key: 'limit', heading: t.limit, cell: (row) => <code>{row.name}</code> },
          { key: 'use', heading: t.use, number: true, cell: (row) => `${n(row.use)} / ${n(row.limit)}` },
          { key: 'share', heading: t.share, cell: (row) => <Meter label={row.name} value={row.use} max={row.limit} /> },
        ]}
      />
    </Section>
  )
}

function Kafka({ kafka }: { kafka: Stats['kafka'] }) {
  if (!kafka) return null
  const { out, in: { records, errors, partitions } } = kafka
  const tone = { reading: 'good', waiting: 'warn', stopped: 'bad' } as const
  return (
    <Section title={t.kafka}>
      <Figures>
        <Figure name={t.brokers} value={n(kafka.brokers_up)} tone={kafka.brokers_up === 0 ? 'bad' : 'good'} />
        <Figure name={t.sent} value={n(out.sent ?? 0)} />
        <Figure name={t.inFlight} value={n(out.in_flight ?? 0)} />
        <Figure name={t.refused} value={n(out.refused ?? 0)} tone={out.refused ? 'warn' : 'plain'} />
        <Figure name={t.failed} value={n(out.failed ?? 0)} tone={out.failed ? 'warn' : 'plain'} />
        <Figure name={t.backingOff} value={n(out.queues_backing_off ?? 0)} tone={out.queues_backing_off ? 'bad' : 'plain'} />
        <Figure name={t.records} value={n(records)} />
        <Figure name={t.errors} value={n(errors)} tone={errors > 0 ? 'warn' : 'plain'} />
      </Figures>
      {partitions.length > 0 && (
        <Table
          caption={t.partitions} rows={partitions} rowKey={(row) => `${row.topic} ${row.partition}`}
          columns={[
            { key: 'topic', heading: t.topic, cell: (row) => <Cut text={row.topic} max={80} /> },
            { key: 'partition', heading: t.partition, number: true, cell: (row) => row.partition !== undefined && n(row.partition) },
            { key: 'state', heading: t.state, cell: (row) => <><Badge tone={tone[row.state]}>{t[row.state]}</Badge> {row.reason && <code>{row.reason}</code>}</> },
            { key: 'position', heading: t.position, number: true, cell: (row) => row.position !== undefined && n(row.position) },
            { key: 'lag', heading: t.lag, number: true, cell: (row) => row.lag !== undefined && n(row.lag) },
          ]}
        />
      )}
    </Section>
  )
}

function Warnings() {
  const lines = logLines.value
  const pathOf = useEventPath()
  const text = (line: LogLine, member: string) => String(line[member] ?? '')
  const fields = (line: LogLine) => Object.entries(line).filter(([name]) => !['time_ms', 'level', 'event', 'message'].includes(name)).map(([name, value]) => `${name}=${String(value)}`).join(' ')
  return (
    <Section title={t.warnings} aside={t.warningsAbout}>
      {source.value === 'polling' && <p class="muted">{t.noEvents}</p>}
      {source.value !== 'polling' && (
        <Table
          caption={t.warnings} rows={lines} rowKey={(row) => JSON.stringify(row)} empty={t.noWarnings}
          columns={[
            { key: 'time', heading: t.time, cell: (row) => formatInstant(Number(row.time_ms)) },
            { key: 'event', heading: t.event, cell: (row) => <EventName line={row} path={pathOf(row.event)} /> },
            { key: 'message', heading: t.what, cell: (row) => <><Cut text={text(row, 'message')} max={300} /> <span class="muted"><Cut text={fields(row)} max={200} /></span></> },
          ]}
        />
      )}
    </Section>
  )
}

function EventName({ line, path }: { line: LogLine; path?: string }) {
  const name = <Badge tone={line.level === 'warning' ? 'warn' : 'bad'}>{line.event}</Badge>
  return path ? <a href={path} target="_blank">{name}</a> : name
}

export default definePage({
  route: 'health', title: () => t.title, view: Health, nav: { group: 'server', order: 10, label: () => t.title, key: 'h', shown: () => !limited.value },
})

// What the workers of a message have said about their work: who has it and since when, how far it is, the checkpoint for the
// next attempt, its attempts so far, and its result.
import type { ComponentChildren } from 'preact'
import { memberText } from '../api/json_text'
import type { Attempt, Message } from '../api/openapi'
import { dictionary } from '../i18n/language'
import { terms } from '../i18n/terms'
import { BodyView } from './body_view'
import { formatDuration, formatNumber, formatPercent } from './format'
import { Reason } from './message_parts'
import { Badge, Section, type Tone } from './parts'
import { Table, type Column } from './table'
import { Cut } from './text'
import { Instant, now } from './time'

const t = dictionary(
  {
    result: 'Result', progress: 'Progress', checkpoint: 'Checkpoint', checkpointHint: 'for the next attempt', timeline: 'Attempts',
    attempt: 'Attempt', started: 'Started', took: 'Took', outcome: 'Outcome', worker: 'Worker', noName: 'without a name', running: 'running',
    since: (worker: ComponentChildren, when: ComponentChildren) => <>{worker}, since {when}</>, stopRequested: 'A stop was requested',
  },
  {
    result: '结果', progress: '进度', checkpoint: '检查点', checkpointHint: '供下一次投递使用', timeline: '各次投递',
    attempt: '次序', started: '开始', took: '用时', outcome: '结果', worker: '执行者', noName: '未提供名称', running: '进行中',
    since: (worker: ComponentChildren, when: ComponentChildren) => <>{worker}，始于 {when}</>, stopRequested: '已请求停止',
  },
)

const outcomes = dictionary(
  {
    done: 'done', failed: 'failed', released: 'released', held: 'held', lease_lost: 'lease lost', expired: 'expired', cancelled: 'cancelled',
  },
  {
    done: '已完成', failed: '失败', released: '已交还', held: '已扣留', lease_lost: '租约丢失', expired: '已过期', cancelled: '已取消',
  },
)
const TONES: Record<string, Tone> = { done: 'good', failed: 'warn', lease_lost: 'warn' }

/** The attempt that is running; undefined if none is. */
function runningAttempt(message: Message): Attempt | undefined {
  const last = message.timeline?.at(-1)
  return message.state === 'leased' && last?.ended === undefined ? last : undefined
}

/** Who has a leased message, and since when; undefined if that is not known. */
export function holderOf(message: Message): ComponentChildren {
  if (message.state !== 'leased') return undefined
  const running = runningAttempt(message)
  const name = message.worker ?? running?.worker
  if (name === undefined && running === undefined) return undefined
  const worker = name === undefined ? t.noName : <Cut text={name} />
  return running === undefined ? worker : t.since(worker, <Instant ms={Date.parse(running.started)} relative />)
}

export function StopRequested({ message }: { message: Message }) {
  return message.cancel_requested ? <Badge tone="warn">{t.stopRequested}</Badge> : null
}

function Outcome({ attempt }: { attempt: Attempt }) {
  const outcome = attempt.outcome
  if (outcome === undefined) return <Badge tone="accent">{t.running}</Badge>
  return <Badge tone={TONES[outcome] ?? 'plain'}>{outcome in outcomes ? outcomes[outcome as keyof typeof outcomes] : outcome}</Badge>
}

/** The attempts so far, in a section as wide as the page: its table has six columns. */
export function Attempts({ message: { timeline = [] } }: { message: Message }) {
  if (timeline.length === 0) return null
  const started = (row: Attempt) => Date.parse(row.started)
  const columns: Column<Attempt>[] = [
    { key: 'attempt', heading: t.attempt, number: true, cell: (row) => formatNumber(row.attempt) },
    { key: 'started', heading: t.started, cell: (row) => <Instant ms={started(row)} relative /> },
    { key: 'took', heading: t.took, number: true, cell: (row) => formatDuration(Math.max((row.ended === undefined ? now() : Date.parse(row.ended)) - started(row), 0)) },
    { key: 'outcome', heading: t.outcome, cell: (row) => <Outcome attempt={row} /> },
    { key: 'worker', heading: t.worker, cell: (row) => row.worker !== undefined && <Cut text={row.worker} max={64} /> },
    { key: 'reason', heading: terms.reason, cell: (row) => row.reason !== undefined && <Reason text={row.reason} /> },
  ]
  return (
    <Section title={t.timeline}>
      <Table caption={t.timeline} columns={columns} rows={timeline} rowKey={(row) => `${row.attempt} ${row.started}`} empty={terms.none} />
    </Section>
  )
}

/** `text`: the answer of the server as it came, because JSON.parse would change long numbers. */
export function Work({ message, text }: { message: Message; text: string }) {
  const json = (name: string) => {
    const value = memberText(text, name)
    return value === undefined ? null : <BodyView key={message.id} body={{ text: value, json: true }} />
  }
  const { progress } = message
  return (
    <>
      {message.result !== undefined && <Section title={t.result}>{json('result')}</Section>}
      {progress !== undefined && (
        <Section title={t.progress} aside={typeof progress === 'number' && formatPercent(progress)}>
          {typeof progress === 'number' ? <progress aria-label={t.progress} max={1} value={progress} /> : json('progress')}
        </Section>
      )}
      {message.checkpoint !== undefined && <Section title={t.checkpoint} aside={t.checkpointHint}>{json('checkpoint')}</Section>}
    </>
  )
}

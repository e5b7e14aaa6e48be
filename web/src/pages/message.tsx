// One message: its content, its rules and origin, how it ended, and what can be done with it.
import { get, inNamespace, requestText } from '../api/client'
import { memberText, prettyJson } from '../api/json_text'
import type { HistoryPage, Message } from '../api/openapi'
import { useQuery } from '../api/query'
import { definePage, type PageProps } from '../app/page'
import { href, namespace } from '../app/router'
import { dictionary } from '../i18n/language'
import { terms } from '../i18n/terms'
import { BodyView, type Body } from '../ui/body_view'
import { GroupName, MessageActions, Reason, StateBadge, WaitsFor, causeText } from '../ui/message_parts'
import { Attempts, StopRequested, Work, holderOf } from '../ui/message_work'
import { formatDuration, formatNumber } from '../ui/format'
import { Badge, Facts, PageHead, Section } from '../ui/parts'
import { Pending, Table, type Column } from '../ui/table'
import { Cut, Name } from '../ui/text'
import { Instant } from '../ui/time'

const t = dictionary(
  {
    title: (id: string) => `Message ${id}`, facts: 'Message', content: 'Content', headers: 'Headers', history: 'History', raw: 'Raw record', rules: 'Rules',
    nominal: 'Requested for', put: 'Put', leasedUntil: 'Leased until', leasedBy: 'Leased by', expires: 'Expires', ended: 'Ended', key: 'Idempotency key', orderKey: 'Order key',
    maybe: 'May have been delivered once more', blocked: 'Blocked', parent: 'Occurrence of', ofSchedule: 'Run of schedule', ofWatchdog: 'From watchdog', lastFed: 'Last fed', number: (n: number) => `number ${formatNumber(n)}`,
    answerBy: 'Commit or rollback by', checks: 'Checks so far', checkOf: 'Check of', trace: 'Trace', nextOccurrence: 'Next occurrence',
    every: 'Every', times: 'Times', until: 'Until', factor: 'Growth', retryAttempts: 'Attempts', retryFirst: 'First backoff', retryMax: 'Longest backoff', jitter: 'Jitter',
    noContent: 'The content of a message is not kept after its end.', noHistory: 'It has not ended.', outcome: 'Outcome', cause: 'Cause', when: 'When', lateness: 'Lateness', wait: 'Wait',
    headerName: 'Name', headerValue: 'Value', kafka: 'Kafka record', transaction: 'Transaction', mayHave: 'yes', show: 'Show the answer of the server', attemptsMade: 'Deliveries started',
  },
  {
    title: (id: string) => `消息 ${id}`, facts: '消息', content: '内容', headers: '消息头', history: '历史', raw: '原始记录', rules: '规则',
    nominal: '请求的到期时间', put: '放入时间', leasedUntil: '租期至', leasedBy: '执行者', expires: '过期时间', ended: '结束时间', key: '幂等键', orderKey: '顺序键',
    maybe: '可能多投递过一次', blocked: '受阻', parent: '周期消息', ofSchedule: '定时任务', ofWatchdog: '看门狗', lastFed: '最近喂狗', number: (n: number) => `第 ${formatNumber(n)} 次`,
    answerBy: '提交或回滚期限', checks: '已回查次数', checkOf: '回查消息', trace: '追踪', nextOccurrence: '下一次',
    every: '间隔', times: '次数', until: '直到', factor: '增长', retryAttempts: '投递次数', retryFirst: '首次退避', retryMax: '最长退避', jitter: '抖动',
    noContent: '消息结束后不再保留内容。', noHistory: '尚未结束。', outcome: '结果', cause: '原因', when: '时间', lateness: '滞后', wait: '等待',
    headerName: '名称', headerValue: '值', kafka: 'Kafka 记录', transaction: '事务', mayHave: '是', show: '显示服务器的响应', attemptsMade: '已开始的投递',
  },
)

interface Loaded {
  message: Message
  /** The answer as it came, because JSON.parse would change long numbers. */
  text: string
}

function bodyOf({ message, text }: Loaded): Body | null {
  if (message.body_base64 !== undefined) return { base64: message.body_base64 }
  if (message.body !== undefined) return { text: message.body }
  const json = memberText(text, 'json')
  return json === undefined ? null : { text: json, json: true }
}

function History({ message }: { message: Message }) {
  const history = useQuery(
    ['history', namespace.value, message.queue, message.id, message.state],
    (signal) => get<HistoryPage>(inNamespace('history'), {
      queue: message.queue, id: message.id, from: message.put_ms === undefined ? undefined : new Date(message.put_ms).toISOString(),
    }, signal),
  )
  if (!history.data) return <Pending query={history} />
  const columns: Column<HistoryPage['ended'][number]>[] = [
    { key: 'when', heading: t.when, cell: (row) => <Instant ms={row.ended_ms} relative /> },
    { key: 'outcome', heading: t.outcome, cell: (row) => <StateBadge state={row.outcome} /> },
    { key: 'cause', heading: t.cause, cell: (row) => causeText(row.cause) },
    { key: 'attempts', heading: terms.attempts, number: true, cell: (row) => formatNumber(row.attempts) },
    { key: 'wait', heading: t.wait, number: true, cell: (row) => row.wait_ms !== undefined && formatDuration(row.wait_ms) },
    { key: 'lateness', heading: t.lateness, number: true, cell: (row) => row.lateness_ms !== undefined && formatDuration(row.lateness_ms) },
  ]
  return <Table caption={t.history} columns={columns} rows={history.data.ended} rowKey={(row) => `${row.ended_ms} ${row.outcome}`} empty={t.noHistory} />
}

function Rules({ message }: { message: Message }) {
  const { retry, repeat, transaction } = message
  if (!retry && !repeat && !transaction) return null
  return (
    <Section title={t.rules}>
      <Facts
        facts={[
          [t.every, repeat && formatDuration(repeat.every_ms)],
          [t.factor, repeat?.factor !== undefined && `×${formatNumber(repeat.factor, 3)}`],
          [t.times, repeat?.times !== undefined && formatNumber(repeat.times)],
          [t.until, repeat?.until !== undefined && <Instant ms={Date.parse(repeat.until)} />],
          [t.retryAttempts, retry?.attempts !== undefined && formatNumber(retry.attempts)],
          [t.retryFirst, retry?.first_ms !== undefined && formatDuration(retry.first_ms)],
          [t.factor, retry?.factor !== undefined && `×${formatNumber(retry.factor, 3)}`],
          [t.retryMax, retry?.max_ms !== undefined && formatDuration(retry.max_ms)],
          [t.jitter, retry?.jitter !== undefined && formatNumber(retry.jitter, 3)],
          [t.transaction, transaction !== undefined && <code>{JSON.stringify(transaction)}</code>],
        ]}
      />
    </Section>
  )
}

function MessageFacts({ message }: { message: Message }) {
  const to = (id: string) => <a href={href(['messages', id])}>{id}</a>
  return (
    <Facts
      facts={[
        [terms.queue, <a href={href(['queues', message.queue])}><Name>{message.queue}</Name></a>],
        [terms.due, <Instant ms={message.due_ms} relative />],
        [t.nominal, message.nominal_due_ms !== undefined && <Instant ms={message.nominal_due_ms} />],
        [t.answerBy, message.answer_by_ms !== undefined && <Instant ms={message.answer_by_ms} relative />],
        [t.checks, message.checks !== undefined && formatNumber(message.checks)],
        [t.leasedBy, holderOf(message)],
        [t.leasedUntil, message.lease_until_ms !== undefined && <Instant ms={message.lease_until_ms} relative />],
        [t.expires, message.expires_ms !== undefined && <Instant ms={message.expires_ms} relative />],
        [t.put, message.put_ms !== undefined && <Instant ms={message.put_ms} relative />],
        [t.ended, message.ended_ms !== undefined && <Instant ms={message.ended_ms} relative />],
        [t.attemptsMade, formatNumber(message.attempts)],
        [t.maybe, message.maybe_delivered && <Badge tone="warn">{t.mayHave}</Badge>],
        [terms.reason, message.reason !== undefined && <Reason text={message.reason} />],
        [t.blocked, message.blocked_by && <WaitsFor message={message} />],
        [terms.priority, formatNumber(message.priority)],
        [t.key, message.key !== undefined && <Cut text={message.key} />],
        [t.orderKey, message.order_key !== undefined && <Cut text={message.order_key} />],
        [terms.group, message.group !== undefined && <GroupName message={message} />],
        [t.nextOccurrence, message.next_occurrence !== undefined && formatNumber(message.next_occurrence)],
        [t.parent, message.parent !== undefined && <>{to(message.parent)}, {t.number(message.occurrence ?? 0)}</>],
        [t.ofSchedule, message.schedule !== undefined && <><a href={href(['schedules', message.schedule])}><Name>{message.schedule}</Name></a>, {t.number(message.occurrence ?? 0)}</>],
        [t.ofWatchdog, message.watchdog !== undefined && <><a href={href(['watchdogs', message.watchdog])}><Name>{message.watchdog}</Name></a>, {t.number(message.occurrence ?? 0)}</>],
        [t.lastFed, message.last_fed_ms !== undefined && <Instant ms={message.last_fed_ms} relative />],
        [t.checkOf, message.check && to(message.check.message)],
        [t.trace, message.traceparent && <code>{message.traceparent}</code>],
      ]}
    />
  )
}

function Headers({ message }: { message: Message }) {
  const rows = Object.entries(message.headers ?? {})
  if (rows.length === 0) return null
  return (
    <Section title={t.headers}>
      <Table
        caption={t.headers} rows={rows} rowKey={([name]) => name}
        columns={[
          { key: 'name', heading: t.headerName, cell: ([name]) => <code>{name}</code> },
          { key: 'value', heading: t.headerValue, cell: ([, value]) => <Cut text={value} max={300} /> },
        ]}
      />
    </Section>
  )
}

function MessageView({ params }: PageProps) {
  const id = params.message!
  const query = useQuery<Loaded>(['message', namespace.value, id], async (signal) => {
    const text = await requestText('GET', inNamespace('messages', id), { signal })
    return { text, message: JSON.parse(text) as Message }
  }, { every_ms: 5000 })
  if (!query.data) return <><PageHead title={t.title(id)} /><Pending query={query} /></>
  const { message, text } = query.data
  const body = bodyOf(query.data)
  return (
    <>
      <PageHead title={t.title(id)} about={<><StateBadge state={message.state} /> <StopRequested message={message} /></>}>
        <MessageActions message={message} />
      </PageHead>
      <div class="columns">
        <div>
          <Section title={t.facts}><MessageFacts message={message} /></Section>
          <Rules message={message} />
          <Work message={message} text={text} />
        </div>
        <div>
          <Section title={t.content} aside={message.content_type && <Cut text={message.content_type} max={60} />}>
            {body ? <BodyView key={id} body={body} /> : <p class="empty">{t.noContent}</p>}
          </Section>
          <Headers message={message} />
          {message.kafka && <Section title={t.kafka}><BodyView body={{ text: JSON.stringify(message.kafka), json: true }} /></Section>}
        </div>
      </div>
      <Attempts message={message} />
      <Section title={t.history}><History message={message} /></Section>
      <Section title={t.raw}>
        <details>
          <summary>{t.show}</summary>
          <BodyView body={{ text: prettyJson(text) }} />
        </details>
      </Section>
    </>
  )
}

export default definePage({ route: 'messages/:message', title: (params) => t.title(params.message!), view: MessageView })

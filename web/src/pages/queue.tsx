// One queue: its numbers, why it is late, its target and settings, how its messages ended lately, and what can be done.
import { get, inNamespace, post, request } from '../api/client'
import type { HistoryPage, Namespace, Queue, RemovedQueue } from '../api/openapi'
import { useQuery } from '../api/query'
import { LATE_MS, useAge } from '../api/queues'
import { can, limited } from '../api/session'
import { definePage, type PageProps } from '../app/page'
import { href, namespace } from '../app/router'
import { dictionary, plural } from '../i18n/language'
import { terms } from '../i18n/terms'
import { DeadActions } from '../ui/dead_actions'
import { act, confirm } from '../ui/dialog'
import { formatDuration, formatNumber, formatPercent } from '../ui/format'
import { Groups } from '../ui/groups'
import { Badge, Button, Facts, Figure, Figures, PageHead, Section } from '../ui/parts'
import { Pending } from '../ui/table'
import { Cut, Name } from '../ui/text'
import { Instant, now } from '../ui/time'
import { LatenessChart } from '../ui/lateness_chart'
import { causeText } from '../ui/message_parts'
import { PutForm } from '../ui/put_form'
import { TargetBadge, healthOf, lateText, targetOf } from '../ui/queue_health'
import { QueueSettingsForm } from '../ui/queue_settings_form'
import { rateText } from '../ui/rate'

const t = dictionary(
  {
    waits: 'Due later', backlog: 'more on disk', waiting: 'Waiting consumers', preparedHint: 'in transactions',
    purge: 'Purge', settings: 'Settings', target: 'Target',
    paused: (name: string) => `Paused ${name}: nothing is delivered from it.`, resumed: (name: string) => `Resumed ${name}.`,
    purgeTitle: (name: string) => `Purge ${name}?`,
    purgeWhat: (n: number, leased: number) =>
      `This ends ${formatNumber(n)} unfinished ${plural(n, 'message', 'messages')} for good. Dead letters and messages that are put later stay.${leased > 0 ? ` ${formatNumber(leased)} leased ${plural(leased, 'one', 'ones')} can still be acknowledged.` : ''}`,
    purgeVerb: 'Purge',
    purgeDone: (n: number) => `Purged ${terms.countMessages(n)}. None of them is delivered any more.`,
    purging: (n: number) => `Being purged: ${formatNumber(n)} ended so far.`, discarding: (n: number) => `Dead letters are being discarded: ${formatNumber(n)} so far.`,
    pull: 'Consumers lease the messages', webhook: 'The server posts them to a webhook', kafka: 'The server sends them to Kafka',
    url: 'Address', topic: 'Topic', partition: 'Partition', delivery: 'Delivery', inFlight: 'In progress', until: 'Next attempt', concurrency: 'At once', rate: 'Limit',
    timeout: 'Timeout', secrets: 'Secrets', headers: 'Headers', recordKey: 'Record key', targetState: 'State', perSecond: (n: number) => `${formatNumber(n)} per second`,
    lease: 'Lease', ofQueue: 'set here', ofServer: 'as set for the server', ofBoth: (here: string) => `${here} set here, the rest as for the server`, ofNamespace: (limit: string) => `the namespace: ${limit} in all`, attempts: 'Attempts', backoff: 'Backoff',
    backoffText: (first: string, factor: string, max: string, jitter: string) => `${first}, then ×${factor} up to ${max}, ±${jitter}`, first: 'first', factor: 'growth', max: 'longest', jitter: 'jitter', limitPending: 'Limit of messages', limitLeased: 'Leased at once', limitRate: 'Deliveries', groupLeased: 'Leased at once, each group', groupRate: 'Deliveries, each group', noLimit: 'none',
    ended: 'Ended in the last ten minutes', endedMore: (n: number) => `Counted: the first ${formatNumber(n)}. There are more.`, nothingEnded: 'None.',
    endedLateness: 'Lateness of the latest', endedWait: 'Wait of the latest', browse: 'Browse messages', timeline: 'Timeline',
    test: 'Test message', removed: 'The settings were removed.', removeSettings: 'Remove settings', removeTitle: (name: string) => `Remove the settings of ${name}?`, removeWhat: 'The queue is empty. With its settings removed it exists again from its next message, with the defaults of the server.',
  },
  {
    waits: '稍后到期', backlog: '磁盘上还有', waiting: '等待中的消费者', preparedHint: '事务中',
    purge: '清空', settings: '设置', target: '目标',
    paused: (name: string) => `已暂停 ${name}：不再投递消息。`, resumed: (name: string) => `已恢复 ${name}。`,
    purgeTitle: (name: string) => `清空 ${name}？`,
    purgeWhat: (n: number, leased: number) => `这将永久结束 ${formatNumber(n)} 条未完成的消息。死信和之后放入的消息会保留。${leased > 0 ? `其中 ${formatNumber(leased)} 条已租出，仍可确认。` : ''}`,
    purgeVerb: '清空',
    purgeDone: (n: number) => `已清空 ${formatNumber(n)} 条消息，它们都不会再被投递。`,
    purging: (n: number) => `正在清空：已结束 ${formatNumber(n)} 条。`, discarding: (n: number) => `正在丢弃死信：已丢弃 ${formatNumber(n)} 条。`,
    pull: '由消费者租取', webhook: '由服务器投递到 webhook', kafka: '由服务器发送到 Kafka',
    url: '地址', topic: '主题', partition: '分区', delivery: '投递保证', inFlight: '进行中', until: '下次尝试', concurrency: '并发', rate: '限速',
    timeout: '超时', secrets: '密钥', headers: '头', recordKey: '记录键', targetState: '状态', perSecond: (n: number) => `每秒 ${formatNumber(n)}`,
    lease: '租期', ofQueue: '本队列的设置', ofServer: '服务器的设置', ofBoth: (here: string) => `${here}为本队列的设置，其余为服务器的设置`, ofNamespace: (limit: string) => `命名空间合计：${limit}`, attempts: '投递次数', backoff: '退避',
    backoffText: (first: string, factor: string, max: string, jitter: string) => `首次 ${first}，之后 ×${factor}，最长 ${max}，±${jitter}`, first: '首次', factor: '倍数', max: '最长', jitter: '抖动', limitPending: '消息数上限', limitLeased: '同时租出', limitRate: '投递', groupLeased: '每个分组同时租出', groupRate: '每个分组的投递', noLimit: '无',
    ended: '最近十分钟结束的消息', endedMore: (n: number) => `只统计了前 ${formatNumber(n)} 条，还有更多。`, nothingEnded: '无。',
    endedLateness: '最近一条的滞后', endedWait: '最近一条的等待', browse: '浏览消息', timeline: '时间线',
    test: '测试消息', removed: '设置已删除。', removeSettings: '删除设置', removeTitle: (name: string) => `删除 ${name} 的设置？`, removeWhat: '队列为空。删除设置后，队列会在收到下一条消息时以服务器默认设置重新存在。',
  },
)

const RECENT_MS = 600_000

function Target({ queue }: { queue: Queue }) {
  const target = queue.settings.target
  const state = queue.webhook ?? queue.kafka
  const about = <p class="muted">{t[targetOf(queue)]}</p>
  if (!target || target === 'pull') return about
  const webhook = 'webhook' in target ? target.webhook : undefined
  const kafka = 'kafka' in target ? target.kafka : undefined
  return (
    <>
      {about}
      <Facts
        facts={[
          [t.url, webhook && <Cut text={webhook.url} />],
          [t.topic, kafka && <Cut text={kafka.topic} />],
          [t.targetState, state && <TargetBadge state={state} />],
          [t.until, state?.until_ms !== undefined && <Instant ms={state.until_ms} relative />],
          [t.inFlight, state && formatNumber(state.in_flight)],
          [t.concurrency, webhook?.concurrency !== undefined && formatNumber(webhook.concurrency)],
          [t.rate, webhook?.rate !== undefined && t.perSecond(webhook.rate)],
          [t.timeout, webhook?.timeout_ms !== undefined && formatDuration(webhook.timeout_ms)],
          [t.secrets, webhook?.secrets && webhook.secrets.length > 0 && <Cut text={webhook.secrets.join(', ')} />],
          [t.headers, webhook?.headers && <Cut text={Object.keys(webhook.headers).join(', ')} />],
          [t.partition, kafka?.partition !== undefined && String(kafka.partition)],
          [t.recordKey, kafka?.key !== undefined && <Cut text={kafka.key} />],
          [t.delivery, kafka?.delivery && <code>{kafka.delivery}</code>],
        ]}
      />
    </>
  )
}

/** A value in force, and where it comes from. */
function InForce({ value, from }: { value: string; from: string }) {
  return <>{value} <span class="muted">· {from}</span></>
}

function Settings({ queue }: { queue: Queue }) {
  const space = useQuery(['namespace limits', namespace.value], (signal) => get<Namespace>(`/v1/namespaces/${encodeURIComponent(namespace.value)}`, {}, signal).catch(() => null), { every_ms: 30_000, skip: limited.value })
  const { lease_ms, retry, limits, rate, groups } = queue.settings
  if (!queue.in_force) return null
  const rule = queue.in_force.retry
  const originOf = (own: number | undefined) => (own === undefined ? t.ofServer : t.ofQueue)
  const own = ([['first_ms', t.first], ['factor', t.factor], ['max_ms', t.max], ['jitter', t.jitter]] as const).filter(([member]) => retry?.[member] !== undefined)
  const backoffOrigin = own.length === 0 ? t.ofServer : own.length === 4 ? t.ofQueue : t.ofBoth(own.map(([, name]) => name).join(', '))
  const spaceLimit = space.data?.settings.limits?.pending
  const none = <span class="muted">{t.noLimit}{spaceLimit !== undefined && <> · {t.ofNamespace(formatNumber(spaceLimit))}</>}</span>
  return (
    <Facts
      facts={[
        [t.lease, <InForce value={formatDuration(queue.in_force.lease_ms)} from={originOf(lease_ms)} />],
        [t.attempts, <InForce value={formatNumber(rule.attempts)} from={originOf(retry?.attempts)} />],
        [t.backoff, <InForce value={t.backoffText(formatDuration(rule.first_ms), formatNumber(rule.factor, 3), formatDuration(rule.max_ms), formatPercent(rule.jitter))} from={backoffOrigin} />],
        [t.limitPending, limits?.pending === undefined ? none : <InForce value={formatNumber(limits.pending)} from={t.ofQueue} />],
        [t.limitLeased, limits?.leased !== undefined && formatNumber(limits.leased)],
        [t.limitRate, rate && rateText(rate)],
        [t.groupLeased, groups?.leased !== undefined && formatNumber(groups.leased)],
        [t.groupRate, groups?.rate && rateText(groups.rate)],
      ]}
    />
  )
}

function RecentEnds({ name }: { name: string }) {
  const ends = useQuery(
    ['ends', namespace.value, name],
    (signal) => get<HistoryPage>(inNamespace('history'), { queue: name, from: new Date(now() - RECENT_MS).toISOString(), limit: 1000 }, signal),
    { every_ms: 10_000 },
  )
  if (!ends.data) return <Pending query={ends} />
  if (ends.data.ended.length === 0) return <p class="muted">{t.nothingEnded}</p>
  const counts = new Map<string, number>()
  for (const { cause } of ends.data.ended) counts.set(cause, (counts.get(cause) ?? 0) + 1)
  const more = ends.data.cursor !== undefined
  const latest = ends.data.ended.findLast((one) => one.lateness_ms !== undefined)
  return (
    <>
      <Facts
        facts={[
          ...[...counts].sort((a, b) => b[1] - a[1]).map(([cause, count]): [string, string] => [causeText(cause), formatNumber(count)]),
          [t.endedLateness, !more && latest?.lateness_ms !== undefined && formatDuration(latest.lateness_ms)],
          [t.endedWait, !more && latest?.wait_ms !== undefined && formatDuration(latest.wait_ms)],
        ]}
      />
      {more && <p class="muted">{t.endedMore(ends.data.ended.length)}</p>}
    </>
  )
}

function Actions({ queue }: { queue: Queue }) {
  const name = queue.queue
  const path = inNamespace('queues', name)
  if (!can('admin')) return null
  return (
    <>
      {queue.paused ? (
        <Button kind="primary" onClick={() => void act(() => post<Queue>(`${path}:resume`), () => t.resumed(name))}>{terms.resume}</Button>
      ) : (
        <Button onClick={() => void act(() => post<Queue>(`${path}:pause`), () => t.paused(name))}>{terms.pause}</Button>
      )}
      <DeadActions queue={queue} />
      {queue.pending > 0 && (
        <Button
          kind="danger"
          onClick={() => confirm({
            title: t.purgeTitle(name), what: t.purgeWhat(queue.pending, queue.leased), verb: t.purgeVerb, danger: true,
            run: () => post<Queue>(`${path}:purge`), done: (answer) => t.purgeDone(answer.pending),
          })}
        >
          {t.purge}
        </Button>
      )}
      {queue.pending === 0 && queue.dead === 0 && (
        <Button
          kind="danger"
          onClick={() => confirm({
            title: t.removeTitle(name), what: t.removeWhat, verb: t.removeSettings, danger: true,
            run: () => request<RemovedQueue>('DELETE', path), done: () => t.removed,
          })}
        >
          {t.removeSettings}
        </Button>
      )}
    </>
  )
}

function QueueView({ params }: PageProps) {
  const name = params.queue!
  const { data: age } = useAge(namespace.value, name)
  const query = useQuery(['queue', namespace.value, name], (signal) => get<Queue>(inNamespace('queues', name), {}, signal), { every_ms: 2000 })
  const queue = query.data
  const title = <Name>{name}</Name>
  if (!queue) return <><PageHead title={title} /><Pending query={query} />{query.error && can('put') && <Section title={t.test}><PutForm queue={name} /></Section>}</>
  const health = healthOf(queue, age ?? undefined)
  const list = (state: string) => href(['messages'], { queue: name, state })
  return (
    <>
      <PageHead
        title={title}
        about={
          <>
            {age !== null && age >= LATE_MS && <><Badge tone="bad">{lateText(age)}</Badge> </>}
            <Badge tone={health.tone}>{health.reason}</Badge>
          </>
        }
      >
        <a class="button" href={href(['messages'], { queue: name })}>{t.browse}</a>
        <a class="button" href={href(['timeline'], { queue: name })}>{t.timeline}</a>
        <Actions queue={queue} />
      </PageHead>
      {queue.purge && <div class="note warn" role="status">{t.purging(queue.purge.purged)}</div>}
      {queue.discard && <div class="note warn" role="status">{t.discarding(queue.discard.discarded)}</div>}
      <Figures>
        <Figure name={terms.pending} value={formatNumber(queue.pending)} link={href(['messages'], { queue: name })} />
        <Figure name={t.waits} value={formatNumber(queue.scheduled)} link={list('scheduled,retrying')} />
        <Figure name={terms.ready} value={formatNumber(queue.ready)} hint={queue.backlog_on_disk ? t.backlog : undefined} link={list('ready')} />
        <Figure name={terms.leased} value={formatNumber(queue.leased)} link={list('leased')} />
        <Figure name={terms.held} value={formatNumber(queue.held)} link={list('held')} />
        <Figure name={terms.prepared} value={formatNumber(queue.prepared)} hint={queue.prepared > 0 ? t.preparedHint : undefined} link={list('prepared')} />
        <Figure name={terms.deadLetters} value={formatNumber(queue.dead)} tone={queue.dead > 0 ? 'warn' : 'plain'} link={href(['dead'], { queue: name })} />
        <Figure name={t.waiting} value={formatNumber(queue.waiters)} />
      </Figures>
      {!limited.value && <LatenessChart of={{ queue: name, namespace: namespace.value }} />}
      <Groups queue={queue} />
      <div class="columns">
        <div>
          <Section title={t.target}><Target queue={queue} /></Section>
          <Section title={t.settings} aside={can('admin') && <QueueSettingsForm queue={queue} />}><Settings queue={queue} /></Section>
          {!can('put') && <Section title={t.ended}><RecentEnds name={name} /></Section>}
        </div>
        {can('put') && (
          <div>
            <Section title={t.test}><PutForm queue={name} /></Section>
            <Section title={t.ended}><RecentEnds name={name} /></Section>
          </div>
        )}
      </div>
    </>
  )
}

export default definePage({ route: 'queues/:queue', title: (params) => params.queue!, view: QueueView })

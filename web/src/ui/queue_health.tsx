// Why the messages of a queue wait: the first reason that applies, worst first.
import type { Queue } from '../api/openapi'
import { LATE_MS } from '../api/queues'
import { dictionary } from '../i18n/language'
import { formatDuration, formatNumber, formatRelative } from './format'
import { Badge, type Tone } from './parts'
import { now } from './time'

const t = dictionary(
  {
    pausedByTarget: 'Paused: its target answered that it is gone', paused: 'Paused', purging: 'It is being purged',
    backingOff: (until: string) => `Its target fails; the next attempt is ${until}`, backingOffSoon: 'Its target fails',
    retryAfter: (until: string) => `Its target asked the server to wait; the next attempt is ${until}`,
    probing: 'Its target failed; one message tests whether it works again', misconfigured: 'Its webhook names a secret that the server does not have',
    disabledWebhook: 'The server posts no webhooks (setting webhooks.post)', disabledKafka: 'The server has no Kafka brokers (setting kafka.bootstrap)',
    gone: 'Its target is gone', rate: (n: number) => `Its webhook is limited to ${formatNumber(n)} posts per second`, targetSlow: 'Its target is slower than the messages come',
    noConsumer: 'No consumer leases from it', slowConsumers: (n: number) => `${formatNumber(n)} leased: its consumers are slower than the messages come`,
    allLeased: (n: number) => `Its limit is reached: ${formatNumber(n)} leased at once`, heldBack: 'Consumers wait: its rate or the limits of its groups hold messages back',
    inProgress: 'A consumer has had the oldest message since then', orderKeys: 'Waits for the end of earlier messages with the same order key',
    draining: 'Its consumers work through the backlog', full: 'Full: puts are refused', nearlyFull: 'Nearly full',
    ok: 'Healthy', late: (age: string) => `${age} late`,
    state_ok: 'works', state_backing_off: 'backing off', state_probing: 'probing', state_gone: 'gone', state_misconfigured: 'misconfigured', state_disabled: 'disabled',
  },
  {
    pausedByTarget: '已暂停：目标返回“已不存在”', paused: '已暂停', purging: '正在清空',
    backingOff: (until: string) => `目标失败，下次尝试：${until}`, backingOffSoon: '目标失败',
    retryAfter: (until: string) => `目标要求等待，下次尝试：${until}`,
    probing: '目标曾失败，正用一条消息试探是否恢复', misconfigured: 'Webhook 引用的密钥在服务器上不存在',
    disabledWebhook: '服务器不投递 webhook（设置 webhooks.post）', disabledKafka: '服务器未配置 Kafka broker（设置 kafka.bootstrap）',
    gone: '目标已不存在', rate: (n: number) => `Webhook 限速为每秒 ${formatNumber(n)} 次`, targetSlow: '目标处理速度跟不上消息到达速度',
    noConsumer: '没有消费者租取消息', slowConsumers: (n: number) => `已租出 ${formatNumber(n)} 条：消费者处理速度跟不上`,
    allLeased: (n: number) => `已达上限：最多同时租出 ${formatNumber(n)} 条`, heldBack: '消费者在等待：队列速率或分组上限限制了投递',
    inProgress: '最早的消息一直由某个消费者持有', orderKeys: '等待相同顺序键的前序消息结束',
    draining: '消费者正在处理积压', full: '已满：拒绝写入新消息', nearlyFull: '即将写满',
    ok: '正常', late: (age: string) => `晚了 ${age}`,
    state_ok: '正常', state_backing_off: '退避中', state_probing: '试探中', state_gone: '已不存在', state_misconfigured: '配置错误', state_disabled: '已停用',
  },
)

export function targetOf(queue: Queue): 'pull' | 'webhook' | 'kafka' {
  const target = queue.settings.target
  if (!target || target === 'pull') return 'pull'
  return 'webhook' in target ? 'webhook' : 'kafka'
}

type TargetState = NonNullable<Queue['webhook'] | Queue['kafka']>

export function TargetBadge({ state }: { state: TargetState }) {
  const tone: Tone = state.state === 'ok' ? 'good' : state.state === 'probing' ? 'warn' : 'bad'
  return <Badge tone={tone}>{t[`state_${state.state}`]}</Badge>
}

function targetReason(queue: Queue): string | null {
  const state = queue.webhook ?? queue.kafka
  if (!state || state.state === 'ok') return null
  switch (state.state) {
    case 'backing_off': {
      if (state.until_ms === undefined) return t.backingOffSoon
      const until = formatRelative(state.until_ms, now())
      return state.reason === 'retry_after' ? t.retryAfter(until) : t.backingOff(until)
    }
    case 'probing': return t.probing
    case 'misconfigured': return t.misconfigured
    case 'disabled': return queue.kafka ? t.disabledKafka : t.disabledWebhook
    case 'gone': return t.gone
  }
}

export interface Health {
  tone: Tone
  reason: string
}

/** `age_ms`: how long the oldest message has been due; undefined if it is not known. */
export function healthOf(queue: Queue, age_ms: number | undefined): Health {
  const late = age_ms !== undefined && age_ms >= LATE_MS
  const bad: Tone = late ? 'bad' : 'warn'
  if (queue.paused_by === 'target') return { tone: 'bad', reason: t.pausedByTarget }
  if (queue.paused) return { tone: bad, reason: t.paused }
  if (queue.purge) return { tone: 'warn', reason: t.purging }
  const target = targetReason(queue)
  if (target) return { tone: queue.ready > 0 || late ? 'bad' : 'warn', reason: target }
  const limit = queue.settings.limits?.pending
  if (limit !== undefined && queue.pending >= limit) return { tone: 'bad', reason: t.full }
  const leasedMax = queue.settings.limits?.leased
  if (late && leasedMax !== undefined && queue.leased >= leasedMax) return { tone: 'bad', reason: t.allLeased(leasedMax) }
  const kind = targetOf(queue)
  if (late && kind === 'pull' && queue.waiters > 0 && queue.ready > 0 && (queue.settings.rate || queue.settings.groups)) return { tone: 'bad', reason: t.heldBack }
  if (late && kind === 'pull') {
    if (queue.leased === 0 && queue.waiters === 0) return queue.ready > 0 ? { tone: 'bad', reason: t.noConsumer } : { tone: 'warn', reason: t.orderKeys }
    if (queue.ready === 0 && !queue.backlog_on_disk) return { tone: 'plain', reason: queue.leased > 0 ? t.inProgress : t.orderKeys }
    return { tone: 'bad', reason: queue.leased > 0 ? t.slowConsumers(queue.leased) : t.draining }
  }
  if (late) {
    const settings = queue.settings.target
    const rate = typeof settings === 'object' && 'webhook' in settings ? settings.webhook.rate : undefined
    return { tone: 'bad', reason: rate === undefined ? t.targetSlow : t.rate(rate) }
  }
  if (limit !== undefined && queue.pending >= limit * 0.9) return { tone: 'warn', reason: t.nearlyFull }
  return { tone: 'good', reason: t.ok }
}

export function lateText(age_ms: number): string {
  return t.late(formatDuration(age_ms))
}

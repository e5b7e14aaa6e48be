// What the pages of messages share: the badge of a state, and the actions on one message.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { inNamespace, post, request } from '../api/client'
import type { CancelResponse, DiscardResponse, FireResponse, HoldResponse, KickResponse, Message, MoveResponse, State } from '../api/openapi'
import { changed } from '../api/query'
import { can } from '../api/session'
import { href } from '../app/router'
import { dictionary } from '../i18n/language'
import { terms } from '../i18n/terms'
import { Dialog, act, confirm, notify } from './dialog'
import { fromLocalInput, toLocalInput } from './format'
import { Badge, Button, Field, type Tone } from './parts'
import { ProblemNote } from './problem'
import { reasonLine } from './reason'
import { Cut, Name, visible } from './text'
import { Instant, now } from './time'

const t = dictionary(
  {
    cancel: 'Cancel message', cancelTitle: (id: string) => `Cancel message ${id}?`, cancelWhat: 'This ends 1 message for good. It is not delivered.',
    cancelRecurring: 'This ends 1 recurring message: it creates no more occurrences. Existing occurrences stay.', cancelled: 'The message was cancelled.',
    stop: 'Ask to stop', stopTitle: (id: string) => `Ask the consumer of message ${id} to stop?`,
    stopWhat: 'This ends 1 message when its consumer gives it back or its lease runs out. It is not retried. If the consumer finishes the work, the message is done.',
    stopAsked: 'The consumer is asked to stop.',
    maybe: ' A consumer may already have received it.',
    fire: 'Deliver now', fired: 'Made due now.', hold: 'Hold', heldDone: 'Held until it is kicked.', kick: 'Kick', kickedDone: 'Returned to its queue.',
    discard: 'Discard', discardTitle: (id: string) => `Discard dead letter ${id}?`, discardWhat: 'This ends 1 dead letter for good. It cannot be redriven afterwards.', discarded: 'The dead letter was discarded.',
    move: 'Move', moveTitle: (id: string) => `Move message ${id}`, moveIn: 'Due in', moveInHint: 'Such as 10m or 1d2h', moveAt: 'Or due at, local time', leaseLost: 'The lease ended without a response.', wholeReason: 'Show all lines', moved: 'Moved. It is due', waitsFor: (what: ComponentChildren) => <>Waits for {what}</>,
  },
  {
    cancel: '取消消息', cancelTitle: (id: string) => `取消消息 ${id}？`, cancelWhat: '这将永久结束 1 条消息，不再投递。',
    cancelRecurring: '这将结束 1 条周期消息：不再产生新的消息，已产生的会保留。', cancelled: '消息已取消。',
    stop: '请求停止', stopTitle: (id: string) => `请求消息 ${id} 的消费者停止？`,
    stopWhat: '消费者交还消息或租期结束时，将永久结束 1 条消息，不再重试。如果消费者仍完成了工作，则消息为已完成。',
    stopAsked: '已请求消费者停止。',
    maybe: ' 消费者可能已经收到它。',
    fire: '立即投递', fired: '已设为立即到期。', hold: '扣留', heldDone: '消息已扣留，直到被放回。', kick: '放回队列', kickedDone: '已放回队列。',
    discard: '丢弃', discardTitle: (id: string) => `丢弃死信 ${id}？`, discardWhat: '这将永久结束 1 条死信，之后无法重新投递。', discarded: '死信已丢弃。',
    move: '改期', moveTitle: (id: string) => `修改消息 ${id} 的到期时间`, moveIn: '多久后到期', moveInHint: '例如 10m 或 1d2h', moveAt: '或到期时间（本地时间）', leaseLost: '租约在没有响应的情况下结束。', wholeReason: '显示全部行', moved: '已改期，到期时间为', waitsFor: (what: ComponentChildren) => <>等待：{what}</>,
  },
)

const causes = dictionary(
  {
    acknowledged: 'acknowledged', cancelled: 'cancelled', expired: 'expired', failed: 'dead: failed for the last time', attempts_used_up: 'dead: attempts used up',
    purged: 'purged', kept_long_enough: 'dead letters that grew too old', discarded: 'discarded', spawned: 'recurring, after the last occurrence', rolled_back: 'rolled back', unanswered: 'ended by default',
  },
  {
    acknowledged: '已确认', cancelled: '已取消', expired: '已过期', failed: '死信：最后一次失败', attempts_used_up: '死信：投递次数用尽',
    purged: '已清空', kept_long_enough: '死信保留期满', discarded: '已丢弃', spawned: '周期消息已结束', rolled_back: '已回滚', unanswered: '按默认结果结束',
  },
)

/** Why a message ended, in words. The server may know more causes than the page. */
export function causeText(cause: string): string {
  return cause in causes ? causes[cause as keyof typeof causes] : cause
}

const limits = dictionary(
  {
    queue_leased: 'the limit of leased messages of its queue', queue_rate: 'the rate of its queue',
    group_leased: (group: ComponentChildren) => <>the limit of group {group}</>, group_rate: (group: ComponentChildren) => <>the rate of group {group}</>,
    group_backoff: (group: ComponentChildren) => <>the backoff of group {group}</>,
  },
  {
    queue_leased: '队列的租出数上限', queue_rate: '队列的速率',
    group_leased: (group: ComponentChildren) => <>分组 {group} 的上限</>, group_rate: (group: ComponentChildren) => <>分组 {group} 的速率</>,
    group_backoff: (group: ComponentChildren) => <>分组 {group} 的退避</>,
  },
)

/** What a message waits for: a limit in words, or a code of the server. */
export function WaitsFor({ message }: { message: Message }) {
  const code = message.blocked_by
  if (code === undefined || !(code in limits)) return <>{t.waitsFor(<code>{code}</code>)}</>
  const words = limits[code as keyof typeof limits]
  return <>{t.waitsFor(typeof words === 'string' ? words : words(<GroupName message={message} />))}</>
}

/** The group of a message, with a link to its place on the page of the queue. */
export function GroupName({ message: { queue, group = '' } }: { message: Message }) {
  return <a href={href(['queues', queue], { group })}><Name>{group}</Name></a>
}

const TONES: Partial<Record<State, Tone>> = { ready: 'accent', leased: 'accent', retrying: 'warn', held: 'warn', dead: 'bad', expired: 'warn', done: 'good' }

export function StateBadge({ state }: { state: State }) {
  return <Badge tone={TONES[state] ?? 'plain'}>{terms[state]}</Badge>
}

/** A line of a reason, in words where the server has a code for it. */
export function reasonWords(line: string): string {
  return line === 'lease lost' ? t.leaseLost : line
}

/** Why a message failed: the line that says what happened, and all lines on request. */
export function Reason({ text }: { text: string }) {
  const [whole, setWhole] = useState(false)
  const line = reasonLine(text)
  if (line === text.trim()) return <Cut text={reasonWords(text)} />
  return (
    <>
      {whole ? <bdi class="free trace">{visible(text)}</bdi> : <Cut text={line} />}{' '}
      <button type="button" class="link" onClick={() => setWhole(!whole)}>{whole ? terms.showLess : t.wholeReason}</button>
    </>
  )
}

function MoveDialog({ message, onClose }: { message: Message; onClose: () => void }) {
  const [delay, setDelay] = useState('')
  const [at, setAt] = useState('')
  const [error, setError] = useState<Error | null>(null)
  const due = fromLocalInput(at)
  const move = async () => {
    try {
      const body = delay.trim() ? { delay: delay.trim() } : { due }
      const answer = await request<MoveResponse>('PATCH', inNamespace('messages', message.id), { body })
      notify(<>{t.moved} {answer.due_ms !== undefined && <Instant ms={answer.due_ms} relative />}</>)
      changed()
      onClose()
    } catch (failure) {
      setError(failure as Error)
    }
  }
  return (
    <Dialog title={t.moveTitle(message.id)} onClose={onClose}>
      <form onSubmit={(event) => { event.preventDefault(); void move() }}>
        {error && <ProblemNote error={error} />}
        <div class="fields">
          <Field id="move-in" label={t.moveIn} hint={t.moveInHint}>
            {(id) => <input id={id} value={delay} autocomplete="off" aria-describedby={`${id}-hint`} onInput={(event) => { setDelay(event.currentTarget.value); setAt('') }} />}
          </Field>
          <Field id="move-at" label={t.moveAt}>
            {(id) => <input id={id} type="datetime-local" step={1} min={toLocalInput(now())} value={at} onInput={(event) => { setAt(event.currentTarget.value); setDelay('') }} />}
          </Field>
        </div>
        <div class="dialog-actions">
          <Button onClick={onClose}>{terms.cancel}</Button>
          <Button kind="primary" type="submit" disabled={!delay.trim() && !due}>{t.move}</Button>
        </div>
      </form>
    </Dialog>
  )
}

/** The buttons for what is possible in the state of the message; none without the scope `cancel`. */
export function MessageActions({ message }: { message: Message }) {
  const [moving, setMoving] = useState(false)
  if (!can('cancel')) return null
  const path = inNamespace('messages', message.id)
  const { state, repeat } = message
  const waits = state === 'scheduled' || state === 'ready' || state === 'retrying'
  const call = (verb: string, done: string) => void act(() => post<FireResponse | HoldResponse | KickResponse>(`${path}:${verb}`), (answer) => done + (answer.maybe_delivered ? t.maybe : ''))
  return (
    <>
      {(state === 'scheduled' || state === 'retrying') && !repeat && <Button onClick={() => call('fire', t.fired)}>{t.fire}</Button>}
      {waits && !repeat && <Button onClick={() => setMoving(true)}>{t.move}</Button>}
      {waits && <Button onClick={() => call('hold', t.heldDone)}>{t.hold}</Button>}
      {(state === 'held' || state === 'dead') && <Button kind="primary" onClick={() => call('kick', t.kickedDone)}>{t.kick}</Button>}
      {(waits || state === 'held' || state === 'prepared') && (
        <Button
          kind="danger"
          onClick={() => confirm({
            title: t.cancelTitle(message.id), what: repeat ? t.cancelRecurring : t.cancelWhat, verb: t.cancel, danger: true,
            run: () => request<CancelResponse>('DELETE', path), done: (answer) => t.cancelled + (answer.maybe_delivered ? t.maybe : ''),
          })}
        >
          {t.cancel}
        </Button>
      )}
      {state === 'leased' && !message.cancel_requested && (
        <Button
          kind="danger"
          onClick={() => confirm({
            title: t.stopTitle(message.id), what: t.stopWhat, verb: t.stop, danger: true,
            run: () => request<CancelResponse>('DELETE', path, { query: { running: 'true' } }),
            done: (answer) => (answer.outcome === 'cancelling' ? t.stopAsked : t.cancelled + (answer.maybe_delivered ? t.maybe : '')),
          })}
        >
          {t.stop}
        </Button>
      )}
      {state === 'dead' && (
        <Button
          kind="danger"
          onClick={() => confirm({
            title: t.discardTitle(message.id), what: t.discardWhat, verb: t.discard, danger: true,
            run: () => post<DiscardResponse>(`${path}:discard`), done: () => t.discarded,
          })}
        >
          {t.discard}
        </Button>
      )}
      {moving && <MoveDialog message={message} onClose={() => setMoving(false)} />}
    </>
  )
}

// Actions on dead letters, all of a queue or those that were chosen: redrive, discard.
import { inNamespace, post } from '../api/client'
import { serverNow } from '../api/live'
import type { Queue, RedriveResponse } from '../api/openapi'
import { can } from '../api/session'
import { dictionary, plural } from '../i18n/language'
import { terms } from '../i18n/terms'
import { confirm } from './dialog'
import { formatInstant } from './format'
import { Button } from './parts'
import { problemText } from './problem'
import { Name } from './text'

const t = dictionary(
  {
    redrive: 'Redrive all', discard: 'Discard all', discardOld: 'Discard old ones',
    redriveTitle: 'Redrive the dead letters of', discardTitle: 'Discard the dead letters of', discardOldTitle: 'Discard dead letters of more than 7 days ago, of',
    redriveWhat: (count: number, first: boolean) => `${first ? 'The first ' : ''}${terms.countDead(count)} ${plural(count, 'returns', 'return')} to the queue, due at once, in the order in which they died. They have all of their attempts again, and no expiry.`,
    discardWhat: (count: number) => `${terms.countDead(count)} of this queue ${plural(count, 'ends', 'end')} for good. Their content is deleted. This cannot be undone.`,
    discardOldWhat: (before: string, count: number) => `Of the ${terms.countDead(count)} of this queue, those that died before ${before} end for good. Their content is deleted. This cannot be undone.`,
    redriven: (count: number, more: boolean) => `Returned ${terms.countDead(count)} to the queue.${more ? ' There are more: repeat the action.' : ''}`,
    redriveChosen: 'Redrive the chosen', discardChosen: 'Discard the chosen', redriveChosenTitle: 'Redrive the chosen dead letters?', discardChosenTitle: 'Discard the chosen dead letters?',
    redriveChosenWhat: (count: number) => `${terms.countDead(count)} ${plural(count, 'returns', 'return')} to the queue, due at once. They have all of their attempts again, and no expiry.`,
    discardChosenWhat: (count: number) => `${terms.countDead(count)} ${plural(count, 'ends', 'end')} for good. Their content is deleted. This cannot be undone.`,
    unchanged: (count: number, why: string) => ` ${terms.countDead(count)} did not change: ${why}`,
    discarded: (count: number) => `Discarded ${terms.countDead(count)}. None of them returns to the queue.`,
    discardedOld: (before: string) => `Discarded the dead letters that died before ${before}. None of them returns to the queue.`,
  },
  {
    redrive: '全部重新投递', discard: '全部丢弃', discardOld: '丢弃旧死信',
    redriveTitle: '重新投递队列的死信：', discardTitle: '丢弃队列的死信：', discardOldTitle: '丢弃队列中 7 天以前的死信：',
    redriveWhat: (count: number, first: boolean) => `${first ? '前 ' : ''}${terms.countDead(count)}将返回队列，按进入死信的先后立即到期，并重新获得全部投递次数，不再过期。`,
    discardWhat: (count: number) => `此队列的 ${terms.countDead(count)}将永久结束，内容会被删除，无法撤销。`,
    discardOldWhat: (before: string, count: number) => `此队列共有 ${terms.countDead(count)}，其中 ${before} 以前的将永久结束，内容会被删除，无法撤销。`,
    redriven: (count: number, more: boolean) => `已将 ${terms.countDead(count)}放回队列。${more ? '还有更多，请重复此操作。' : ''}`,
    redriveChosen: '重新投递所选', discardChosen: '丢弃所选', redriveChosenTitle: '重新投递所选死信？', discardChosenTitle: '丢弃所选死信？',
    redriveChosenWhat: (count: number) => `${terms.countDead(count)}将返回队列并立即到期，重新获得全部投递次数，不再过期。`,
    discardChosenWhat: (count: number) => `${terms.countDead(count)}将永久结束，内容会被删除，无法撤销。`,
    unchanged: (count: number, why: string) => `${terms.countDead(count)}未改变：${why}`,
    discarded: (count: number) => `已丢弃 ${terms.countDead(count)}，它们不会再返回队列。`,
    discardedOld: (before: string) => `已丢弃 ${before} 以前的死信，它们不会再返回队列。`,
  },
)

const OLD_MS = 7 * 86_400_000
// The maximum of one call.
const REDRIVE_MAX = 100_000

/** `old`: with a choice of the old ones. */
export function DeadActions({ queue, old = false }: { queue: Queue; old?: boolean }) {
  if (!can('admin') || queue.dead === 0) return null
  const path = inNamespace('queues', queue.queue)
  const title = (text: string) => <>{text} <Name>{queue.queue}</Name></>
  const discard = (text: string, what: string, verb: string, body: object, done: (answer: Queue) => string) =>
    confirm({ title: title(text), what, verb, danger: true, run: () => post<Queue>(`${path}:discard`, body), done })
  return (
    <>
      <Button
        onClick={() =>
          confirm({
            title: title(t.redriveTitle), what: t.redriveWhat(Math.min(queue.dead, REDRIVE_MAX), queue.dead > REDRIVE_MAX), verb: t.redrive,
            run: () => post<RedriveResponse>(`${path}:redrive`, {}),
            done: ({ redriven, more }) => t.redriven(redriven, more),
          })}
      >
        {t.redrive}
      </Button>
      {old && (
        <Button
          kind="danger"
          onClick={() => {
            const before = serverNow() - OLD_MS
            const text = formatInstant(before)
            discard(t.discardOldTitle, t.discardOldWhat(text, queue.dead), t.discardOld, { died_before: new Date(before).toISOString() }, () => t.discardedOld(text))
          }}
        >
          {t.discardOld}
        </Button>
      )}
      <Button kind="danger" onClick={() => discard(t.discardTitle, t.discardWhat(queue.dead), t.discard, {}, ({ dead }) => t.discarded(dead))}>{t.discard}</Button>
    </>
  )
}

const AT_ONCE = 8

/** Calls one action for each message. One that fails does not stop the others. */
async function callEach(ids: string[], verb: string): Promise<{ count: number; errors: Error[] }> {
  const left = [...ids]
  const errors: Error[] = []
  const callNext = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      await post(`${inNamespace('messages', id)}:${verb}`).catch((error: Error) => errors.push(error))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, callNext))
  return { count: ids.length - errors.length, errors }
}

/** `chosen`: ids of dead letters. */
export function ChosenActions({ chosen }: { chosen: string[] }) {
  if (chosen.length === 0) return null
  const ask = (title: string, what: string, verb: string, call: string, danger: boolean, done: (count: number) => string) =>
    confirm({
      title, what, verb, danger, run: () => callEach(chosen, call),
      done: ({ count, errors }) => done(count) + (errors[0] ? t.unchanged(errors.length, problemText(errors[0])) : ''),
    })
  return (
    <span class="row-actions">
      <Button onClick={() => ask(t.redriveChosenTitle, t.redriveChosenWhat(chosen.length), t.redriveChosen, 'kick', false, (count) => t.redriven(count, false))}>
        {t.redriveChosen}
      </Button>
      <Button kind="danger" onClick={() => ask(t.discardChosenTitle, t.discardChosenWhat(chosen.length), t.discardChosen, 'discard', true, t.discarded)}>
        {t.discardChosen}
      </Button>
    </span>
  )
}

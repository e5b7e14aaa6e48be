// Actions on all dead letters of a queue: redrive, discard.
import { inNamespace, post } from '../api/client'
import { serverNow } from '../api/live'
import { can } from '../api/session'
import type { Queue } from '../api/types'
import { dictionary, plural } from '../i18n/language'
import { terms } from '../i18n/terms'
import { confirm } from './dialog'
import { formatInstant } from './format'
import { Button } from './parts'
import { Name } from './text'

const t = dictionary(
  {
    redrive: 'Redrive all', discard: 'Discard all', discardOld: 'Discard old ones',
    redriveTitle: 'Redrive the dead letters of', discardTitle: 'Discard the dead letters of', discardOldTitle: 'Discard dead letters of more than 7 days ago, of',
    redriveWhat: (count: number, first: boolean) => `${first ? 'The first ' : ''}${terms.countDead(count)} ${plural(count, 'returns', 'return')} to the queue, due at once, in the order in which they died. They have all of their attempts again, and no expiry.`,
    discardWhat: (count: number) => `${terms.countDead(count)} of this queue ${plural(count, 'ends', 'end')} for good. Their content is deleted. This cannot be undone.`,
    discardOldWhat: (before: string, count: number) => `Of the ${terms.countDead(count)} of this queue, those that died before ${before} end for good. Their content is deleted. This cannot be undone.`,
    redriven: (count: number, more: boolean) => `${terms.countDead(count)} returned to the queue.${more ? ' There are more: repeat the action.' : ''}`,
    discarding: 'The server discards them now. None of them returns to the queue.',
  },
  {
    redrive: '全部重新投递', discard: '全部丢弃', discardOld: '丢弃旧死信',
    redriveTitle: '重新投递队列的死信：', discardTitle: '丢弃队列的死信：', discardOldTitle: '丢弃队列中 7 天以前的死信：',
    redriveWhat: (count: number, first: boolean) => `${first ? '前 ' : ''}${terms.countDead(count)}将返回队列，按进入死信的先后立即到期，并重新获得全部投递次数，不再过期。`,
    discardWhat: (count: number) => `此队列的 ${terms.countDead(count)}将永久结束，内容会被删除，无法撤销。`,
    discardOldWhat: (before: string, count: number) => `此队列共有 ${terms.countDead(count)}，其中 ${before} 以前的将永久结束，内容会被删除，无法撤销。`,
    redriven: (count: number, more: boolean) => `${terms.countDead(count)}已返回队列。${more ? '还有更多，请重复此操作。' : ''}`,
    discarding: '服务器正在丢弃这些死信，它们不会再返回队列。',
  },
)

const OLD_MS = 7 * 86_400_000
// Of one call.
const REDRIVE_MAX = 100_000

/** `old`: with a choice of the old ones. */
export function DeadActions({ queue, old = false }: { queue: Queue; old?: boolean }) {
  if (!can('admin') || queue.dead === 0) return null
  const path = inNamespace('queues', queue.queue)
  const title = (text: string) => <>{text} <Name>{queue.queue}</Name></>
  const discard = (text: string, what: string, verb: string, body: object) =>
    confirm({ title: title(text), what, verb, danger: true, run: () => post<Queue>(`${path}:discard`, body), done: () => t.discarding })
  return (
    <>
      <Button
        onClick={() =>
          confirm({
            title: title(t.redriveTitle), what: t.redriveWhat(Math.min(queue.dead, REDRIVE_MAX), queue.dead > REDRIVE_MAX), verb: t.redrive,
            run: () => post<{ redriven: number; more: boolean }>(`${path}:redrive`, {}),
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
            discard(t.discardOldTitle, t.discardOldWhat(formatInstant(before), queue.dead), t.discardOld, { died_before: new Date(before).toISOString() })
          }}
        >
          {t.discardOld}
        </Button>
      )}
      <Button kind="danger" onClick={() => discard(t.discardTitle, t.discardWhat(queue.dead), t.discard, {})}>{t.discard}</Button>
    </>
  )
}

// The rate at which deliveries start, of a queue or of each of its groups: in words, and as fields of a form.
import type { Rate } from '../api/openapi'
import { dictionary } from '../i18n/language'
import { formatDuration, formatNumber } from './format'
import type { RateDraft } from './queue_draft'
import { TextField } from './save_form'

const t = dictionary(
  {
    count: 'Deliveries', per: 'In each', perHint: 'Such as 1s or 1m', burst: 'Burst', burstHint: 'At once after a pause',
    text: (count: string, per: string) => `${count} in each ${per}`, withBurst: (text: string, burst: string) => `${text}, ${burst} at once after a pause`,
  },
  {
    count: '投递次数', per: '每', perHint: '例如 1s 或 1m', burst: '突发', burstHint: '空闲后可同时开始的次数',
    text: (count: string, per: string) => `每 ${per} ${count} 次`, withBurst: (text: string, burst: string) => `${text}，空闲后可同时 ${burst} 次`,
  },
)

const PER_MS = 1000

export function rateText({ count, per_ms = PER_MS, burst }: Rate): string {
  const text = t.text(formatNumber(count), formatDuration(per_ms))
  return burst === undefined ? text : t.withBurst(text, formatNumber(burst))
}

/** `inherited`: what applies without a count here. */
export function RateFields({ id, draft, inherited, onDraft }: { id: string; draft: RateDraft; inherited?: RateDraft; onDraft: (draft: RateDraft) => void }) {
  const field = (member: keyof RateDraft, hint?: string) => (
    <TextField
      id={`${id}-${member}`} label={t[member]} hint={hint} value={draft[member]} placeholder={draft.count === '' ? inherited?.[member] : undefined}
      inputMode={member === 'per' ? undefined : 'numeric'} onValue={(value) => onDraft({ ...draft, [member]: value })}
    />
  )
  return <>{field('count')}{field('per', t.perHint)}{field('burst', t.burstHint)}</>
}

// How much of a quota is in use.
import { formatCompact, formatNumber as n } from '../ui/format'
import { Meter } from '../ui/parts'

export function Quota({ name, use, limit }: { name: string; use: number; limit?: number }) {
  if (limit === undefined) return <>{n(use)}</>
  return (
    <span class="quota" title={`${n(use)} / ${n(limit)}`}>
      <span>{formatCompact(use)} / {formatCompact(limit)}</span>
      <Meter label={name} value={use} max={limit} />
    </span>
  )
}

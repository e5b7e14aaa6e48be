// What the list of watchdogs and the page of one have in common.
import { inNamespace, post } from '../api/client'
import type { FeedResponse, Watchdog } from '../api/openapi'
import { can } from '../api/session'
import { act } from '../ui/dialog'
import { formatInstant } from '../ui/format'
import { Badge, Button } from '../ui/parts'
import { t } from './text'

export function StateBadge({ watchdog }: { watchdog: Watchdog }) {
  const asleep = watchdog.state === 'asleep'
  const repeats = !asleep && watchdog.last_fired !== undefined && watchdog.last_fired.due_ms > watchdog.last_fed_ms
  return (
    <>
      <Badge tone={asleep || repeats ? 'bad' : 'good'} title={asleep ? t.asleepAbout : undefined}>{asleep ? t.asleep : repeats ? t.firing : t.armed}</Badge>
      {watchdog.overdue && <> <Badge tone="warn">{t.overdue}</Badge></>}
      {watchdog.blocked_by && <> <Badge tone="bad">{t.blocked(watchdog.blocked_by)}</Badge></>}
    </>
  )
}

export function FeedButton({ name }: { name: string }) {
  if (!can('schedule')) return null
  return (
    <Button
      onClick={() =>
        void act(
          () => post<FeedResponse>(`${inNamespace('watchdogs', name)}:feed`),
          ({ late, due_ms }) => (late ? t.fedLate : t.fedDone)(name, formatInstant(due_ms)),
        )}
    >
      {t.feed}
    </Button>
  )
}

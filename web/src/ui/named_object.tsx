// Parts of the page of one schedule or watchdog: how it is loaded, and the button that removes it.
import { inNamespace, request, requestText } from '../api/client'
import { memberText } from '../api/json_text'
import type { RemovedSchedule, RemovedWatchdog } from '../api/openapi'
import { leave } from '../app/leave'
import { confirm } from './dialog'
import { Button } from './parts'
import { Name } from './text'

export type Collection = 'schedules' | 'watchdogs'

export interface Loaded<T> {
  object: T
  /** JSON content as it is written. */
  json?: string
}

export async function loadNamed<T>(collection: Collection, name: string, signal: AbortSignal): Promise<Loaded<T>> {
  const text = await requestText('GET', inNamespace(collection, name), { signal })
  const settings = memberText(text, 'settings')
  return { object: JSON.parse(text) as T, json: settings && memberText(settings, 'json') }
}

interface RemoveTexts {
  removeTitle: string
  removeWhat: string
  remove: string
  removed: string
  removedNot: string
}

export function RemoveButton({ collection, name, t }: { collection: Collection; name: string; t: RemoveTexts }) {
  return (
    <Button
      kind="danger"
      onClick={() =>
        confirm({
          title: <>{t.removeTitle} <Name>{name}</Name></>, what: t.removeWhat, verb: t.remove, danger: true,
          run: async () => {
            const { removed } = await request<RemovedSchedule | RemovedWatchdog>('DELETE', inNamespace(collection, name))
            await leave([collection])
            return removed
          },
          done: (removed) => (removed ? t.removed : t.removedNot),
        })}
    >
      {t.remove}
    </Button>
  )
}

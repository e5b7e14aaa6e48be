// All rows of a list, for what the server neither sorts nor searches.
import { get, inNamespace } from './client'

const PAGES_MAX = 10
const PAGE_SIZE = 1000

export interface All<Row> {
  rows: Row[]
  /** Whether the namespace has more than these. */
  more: boolean
}

/** Up to 10,000 rows, in order of their names. */
export async function allOf<Row>(kind: 'queues' | 'schedules' | 'watchdogs', signal: AbortSignal): Promise<All<Row>> {
  const rows: Row[] = []
  let cursor: string | undefined
  for (let page = 0; page < PAGES_MAX; ++page) {
    const answer = await get<{ [list in typeof kind]?: Row[] } & { cursor?: string }>(inNamespace(kind), { limit: PAGE_SIZE, cursor }, signal)
    rows.push(...(answer[kind] ?? []))
    cursor = answer.cursor
    if (!cursor) break
  }
  return { rows, more: cursor !== undefined }
}

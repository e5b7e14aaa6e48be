// The pages of the documentation, which the server has if the package duewheel-doc is installed.
import { requestText } from './client'
import { useQuery } from './query'

/** The path of the entry of a log event; undefined if the server has no such page, or before that is known. */
export function useEventPath(): (event: string) => string | undefined {
  // Without the pages, /docs/ is the list of error codes. A request for the page itself would leave its 404 on the console.
  const start = useQuery(['docs'], (signal) => requestText('GET', '/docs/', { signal }))
  const found = start.data?.includes('"log_events.html"')
  return (event) => (found ? `/docs/log_events#${event}` : undefined)
}

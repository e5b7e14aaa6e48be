// The page on which an existing watchdog is edited.
import { get, inNamespace } from '../api/client'
import { useQuery } from '../api/query'
import { definePage, type PageProps } from '../app/page'
import { href, namespace } from '../app/router'
import { PageHead } from '../ui/parts'
import { Pending } from '../ui/table'
import { Name } from '../ui/text'
import { draftOf, WatchdogForm } from '../watchdogs/form'
import { t } from '../watchdogs/text'
import type { Watchdog } from '../watchdogs/types'
import './plan.css'

function WatchdogEdit({ params }: PageProps) {
  const name = params.watchdog!
  // Loaded once: what the user types is not replaced.
  const query = useQuery(['watchdog to edit', name, namespace.value], (signal) => get<Watchdog>(inNamespace('watchdogs', name), {}, signal))
  const draft = query.data && draftOf(query.data)
  return (
    <>
      <p class="back"><a href={href(['watchdogs', name])}>← <Name>{name}</Name></a></p>
      <PageHead title={<>{t.editTitle} <Name>{name}</Name></>} />
      {draft ? <WatchdogForm before={draft} initial={draft} /> : <Pending query={query} />}
    </>
  )
}

export default definePage({ route: 'watchdogs/:watchdog/edit', title: () => t.editTitle, view: WatchdogEdit })

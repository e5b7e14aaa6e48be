// The page on which an existing schedule is edited.
import { get, inNamespace } from '../api/client'
import { useQuery } from '../api/query'
import { definePage, type PageProps } from '../app/page'
import { href, namespace } from '../app/router'
import { draftOf } from '../schedules/draft'
import { ScheduleForm } from '../schedules/form'
import { t } from '../schedules/form_text'
import type { Schedule } from '../schedules/types'
import { PageHead } from '../ui/parts'
import { Pending } from '../ui/table'
import { Name } from '../ui/text'
import './plan.css'

function ScheduleEdit({ params }: PageProps) {
  const name = params.schedule!
  // Loaded once: what the user types is not replaced.
  const query = useQuery(['schedule to edit', name, namespace.value], (signal) => get<Schedule>(inNamespace('schedules', name), {}, signal))
  const draft = query.data && draftOf(name, query.data.settings)
  return (
    <>
      <p class="back"><a href={href(['schedules', name])}>← <Name>{name}</Name></a></p>
      <PageHead title={<>{t.editTitle} <Name>{name}</Name></>} />
      {draft ? <ScheduleForm before={draft} initial={draft} /> : <Pending query={query} />}
    </>
  )
}

export default definePage({ route: 'schedules/:schedule/edit', title: () => t.editTitle, view: ScheduleEdit })

// The page on which a watchdog is created.
import { definePage } from '../app/page'
import { href } from '../app/router'
import { PageHead } from '../ui/parts'
import { NEW, WatchdogForm } from '../watchdogs/form'
import { t } from '../watchdogs/text'
import './plan.css'

function WatchdogNew() {
  return (
    <>
      <p class="back"><a href={href(['watchdogs'])}>← {t.all}</a></p>
      <PageHead title={t.newTitle} />
      <WatchdogForm before={null} initial={NEW} />
    </>
  )
}

export default definePage({ route: 'watchdog-new', title: () => t.newTitle, view: WatchdogNew })

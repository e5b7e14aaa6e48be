import { definePage } from '../app/page'
import { dictionary } from '../i18n/language'
import { PageHead } from '../ui/parts'

const t = dictionary({ title: 'Overview' }, { title: '总览' })

function Overview() {
  return <PageHead title={t.title} />
}

export default definePage({ route: '', title: () => t.title, view: Overview, nav: { group: 'work', order: 10, label: () => t.title, key: 'o' } })

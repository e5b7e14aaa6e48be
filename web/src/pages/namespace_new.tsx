// The page on which a namespace gets quotas for the first time.
import { definePage } from '../app/page'
import { href } from '../app/router'
import { QuotaForm } from '../namespaces/form'
import { t } from '../namespaces/text'
import { PageHead } from '../ui/parts'
import './plan.css'

function NamespaceNew() {
  return (
    <>
      <p class="back"><a href={href(['namespaces'])}>← {t.all}</a></p>
      <PageHead title={t.newTitle} />
      <QuotaForm name={null} settings={{}} />
    </>
  )
}

export default definePage({ route: 'namespace-new', title: () => t.newTitle, view: NamespaceNew })

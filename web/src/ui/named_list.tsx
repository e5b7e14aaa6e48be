// The page of things with names, such as schedules: a table that the server pages, with a search in all names.
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { allOf } from '../api/all'
import { get, inNamespace } from '../api/client'
import { useQuery } from '../api/query'
import { can } from '../api/session'
import { go, href, namespace } from '../app/router'
import { dictionary } from '../i18n/language'
import { formatNumber } from './format'
import { PageHead, SearchField, Section } from './parts'
import { Pager, Pending, Table, useLocalPages, usePages, type Column } from './table'

const t = dictionary(
  { search: 'Search by name', some: (count: number) => `The first ${formatNumber(count)} were searched. A whole name opens any of them.`, open: (name: string) => `Open ${name}` },
  { search: '按名称搜索', some: (count: number) => `已搜索前 ${formatNumber(count)} 个。输入完整名称可打开任意一个。`, open: (name: string) => `打开 ${name}` },
)

const PAGE_SIZE = 100

interface Named {
  title: string
  about: string
  caption: string
  /** The link to the form of a new one. */
  create: { label: string; path: string[] }
  empty: ComponentChildren
}

export function NamedList<Row>({ kind, texts, nameOf, columns, every_ms }: {
  kind: 'schedules' | 'watchdogs'
  texts: Named
  nameOf: (row: Row) => string
  columns: Column<Row>[]
  every_ms: number
}) {
  const search = useSignal('')
  const text = search.value.trim()
  const byName = usePages<{ [list in typeof kind]?: Row[] } & { cursor?: string }>(
    [kind, namespace.value], (cursor, signal) => get(inNamespace(kind), { limit: PAGE_SIZE, cursor }, signal), { every_ms, skip: text !== '' },
  )
  const all = useQuery(['all', kind, namespace.value], (signal) => allOf<Row>(kind, signal), { every_ms: 10_000, skip: text === '' })
  const local = useLocalPages(all.data?.rows.filter((row) => nameOf(row).includes(text)) ?? [], PAGE_SIZE, [text])
  const rows = text === '' ? byName.data?.[kind] : all.data && local.rows
  return (
    <>
      <PageHead title={texts.title} about={texts.about}>
        {can('schedule') && <a class="button primary" href={href(texts.create.path)}>{texts.create.label}</a>}
      </PageHead>
      <Section title={texts.caption}>
        <form
          class="filters"
          onSubmit={(event) => {
            event.preventDefault()
            if (text) go([kind, text])
          }}
        >
          <SearchField id={`${kind}-search`} label={t.search} placeholder={t.search} value={search.value} onInput={(value) => (search.value = value)} />
        </form>
        {text !== '' && all.data?.more && <p class="muted">{t.some(all.data.rows.length)}</p>}
        {rows ? (
          <Table caption={texts.caption} rows={rows} rowKey={nameOf} columns={columns} empty={text ? <a href={href([kind, text])}>{t.open(text)}</a> : texts.empty} />
        ) : (
          <Pending query={text === '' ? byName : all} />
        )}
        <Pager pages={text === '' ? byName : local} />
      </Section>
    </>
  )
}

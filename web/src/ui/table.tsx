// Tables: columns with a heading and a cell; sorting is up to the page. Below 880 px a row becomes a block, with the heading
// before each value, so that no table needs sideways scrolling; the roles keep it a table for screen readers. A column
// without a value in any row is omitted. `usePages` steps through a list that the server pages with cursors.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useQuery, type Query } from '../api/query'
import { dictionary } from '../i18n/language'
import { terms } from '../i18n/terms'
import { ProblemNote } from './problem'

const t = dictionary(
  { page: (n: number) => `Page ${n}`, pages: 'Pages', sortBy: (name: string) => `Sort by ${name}` },
  { page: (n: number) => `第 ${n} 页`, pages: '分页', sortBy: (name: string) => `按${name}排序` },
)

export interface Column<Row> {
  key: string
  heading: string
  /** Undefined, null, false or an empty text: there is no value. */
  cell: (row: Row) => ComponentChildren
  /** Numbers are aligned to the right. */
  number?: boolean
  /** Text of any length, which needs room. */
  text?: boolean
  sortable?: boolean
}

export interface Sort {
  key: string
  descending: boolean
}

function hasValue(cell: ComponentChildren): boolean {
  return cell !== undefined && cell !== null && cell !== false && cell !== ''
}

export function Table<Row>(props: {
  /** For screen readers: what the table lists. */
  caption: string
  columns: Column<Row>[]
  rows: Row[]
  rowKey: (row: Row) => string
  sort?: Sort
  onSort?: (key: string) => void
  /** Shown instead of rows when there are none. */
  empty?: ComponentChildren
}) {
  if (props.rows.length === 0 && props.empty) return <div class="empty">{props.empty}</div>
  const columns = props.columns
    .map((column) => ({ ...column, cells: props.rows.map(column.cell) }))
    .filter(({ key, cells }) => key === props.sort?.key || cells.length === 0 || cells.some(hasValue))
  return (
    <table class="table" role="table">
      <caption class="hidden">{props.caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => {
            const sorted = props.sort?.key === column.key ? (props.sort.descending ? 'descending' : 'ascending') : undefined
            return (
              <th key={column.key} role="columnheader" scope="col" class={column.number ? 'number' : ''} aria-sort={sorted}>
                {column.sortable && props.onSort ? (
                  <button type="button" class="sort" title={t.sortBy(column.heading)} onClick={() => props.onSort!(column.key)}>
                    {column.heading}
                    <span aria-hidden="true">{sorted === 'ascending' ? ' ↑' : sorted === 'descending' ? ' ↓' : ''}</span>
                  </button>
                ) : (
                  column.heading
                )}
              </th>
            )
          })}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {props.rows.map((row, index) => (
          <tr key={props.rowKey(row)} role="row">
            {columns.map((column) => (
              <td key={column.key} role="cell" class={column.number ? 'number' : column.text ? 'text' : ''} data-heading={column.heading}>
                <div class="cell">{column.cells[index]}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

export interface Pages<T> extends Query<T> {
  page: number
  previous: (() => void) | null
  next: (() => void) | null
}

/** `load` gets the cursor of the page, or undefined for the first. Another key begins at the first page. */
export function usePages<T extends { cursor?: string }>(
  key: unknown[],
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<T>,
  options: { every_ms?: number; skip?: boolean } = {},
): Pages<T> {
  const text = JSON.stringify(key)
  const [state, setState] = useState<{ key: string; cursors: string[] }>({ key: text, cursors: [] })
  const cursors = state.key === text ? state.cursors : []
  const cursor = cursors.at(-1)
  const query = useQuery([text, cursor ?? ''], (signal) => load(cursor, signal), options)
  const following = query.data?.cursor
  return {
    ...query,
    page: cursors.length + 1,
    previous: cursors.length > 0 ? () => setState({ key: text, cursors: cursors.slice(0, -1) }) : null,
    next: following ? () => setState({ key: text, cursors: [...cursors, following] }) : null,
  }
}

/** Steps through rows that are all loaded. Another key begins at the first page. */
export function useLocalPages<Row>(rows: Row[], size: number, key: unknown[]) {
  const text = JSON.stringify(key)
  const [state, setState] = useState({ key: text, page: 1 })
  const last = Math.max(1, Math.ceil(rows.length / size))
  const page = state.key === text ? Math.min(state.page, last) : 1
  return {
    page, rows: rows.slice((page - 1) * size, page * size),
    previous: page > 1 ? () => setState({ key: text, page: page - 1 }) : null,
    next: page < last ? () => setState({ key: text, page: page + 1 }) : null,
  }
}

/** The buttons below a paged table; nothing if there is one page. */
export function Pager({ pages }: { pages: { page: number; previous: (() => void) | null; next: (() => void) | null } }) {
  if (!pages.previous && !pages.next) return null
  return (
    <nav class="pager" aria-label={t.pages}>
      <button type="button" class="button" disabled={!pages.previous} onClick={() => pages.previous?.()}>
        ← {terms.previous}
      </button>
      <span class="muted">{t.page(pages.page)}</span>
      <button type="button" class="button" disabled={!pages.next} onClick={() => pages.next?.()}>
        {terms.next} →
      </button>
    </nav>
  )
}

/** What a query shows before it has data: its error, or that it loads. */
export function Pending({ query }: { query: Query<unknown> }) {
  if (query.error) return <ProblemNote error={query.error} retry={query.reload} />
  if (!query.data) return <p class="empty muted" aria-busy="true">{terms.loading}</p>
  return null
}

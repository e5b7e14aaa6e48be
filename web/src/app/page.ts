// What a file in src/pages exports. Each such file is one page; the registry finds them, so that adding a page means adding
// a file.
import type { ComponentType } from 'preact'

export interface PageProps {
  params: Record<string, string>
}

export interface Page {
  /** Such as `queues/:queue`; the empty string is the first page. */
  route: string
  title: (params: Record<string, string>) => string
  view: ComponentType<PageProps>
  /** An entry of the navigation. `key` is the letter after `g`; `group` puts related pages together. */
  nav?: { group: 'work' | 'plan' | 'server'; order: number; label: () => string; key: string }
  /** Shown without the navigation and before the login. */
  bare?: boolean
}

export function definePage(page: Page): Page {
  return page
}

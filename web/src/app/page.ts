// What a file in src/pages exports, one or several. The registry finds them, so that adding a page means adding a file.
import type { ComponentType } from 'preact'

export interface PageProps {
  params: Record<string, string>
}

export interface Page {
  /** Such as `queues/:queue`; the empty string is the first page. */
  route: string
  title: (params: Record<string, string>) => string
  view: ComponentType<PageProps>
  /** An entry of the navigation. `key` is the letter after `g`; `group` puts related pages together. Not `shown`: the token may not use it. */
  nav?: { group: 'work' | 'plan' | 'server'; order: number; label: () => string; key: string; shown?: () => boolean }
  /** Shown without the navigation and before the login. */
  bare?: boolean
}

export function definePage(page: Page): Page {
  return page
}

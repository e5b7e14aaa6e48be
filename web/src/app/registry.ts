// All pages: the default exports of the files in src/pages, each a page or several.
import { match, type Route } from './router'
import type { Page } from './page'

const files = import.meta.glob<{ default: Page | Page[] }>('../pages/*.tsx', { eager: true })
export const pages: Page[] = Object.values(files).flatMap((file) => file.default)

export const GROUPS = ['work', 'plan', 'server'] as const

/** The entries of a group of the navigation, in order. */
export function navigation(group: (typeof GROUPS)[number]): Page[] {
  return pages.filter((page) => page.nav?.group === group && (page.nav.shown?.() ?? true)).sort((a, b) => a.nav!.order - b.nav!.order)
}

/** The page of a route with the values of its pattern. A page without parameters goes before one with. */
export function find(route: Route): { page: Page; params: Record<string, string> } | null {
  const candidates = [...pages].sort((a, b) => Number(a.route.includes(':')) - Number(b.route.includes(':')))
  for (const page of candidates) {
    const params = match(page.route, route.path)
    if (params) return { page, params }
  }
  return null
}

// Keys: `/` goes to the search field of the page, `g` and a letter to another page, `?` lists them. Not while typing.
import { signal } from '@preact/signals'
import { go } from './router'
import { pages } from './registry'

export const keysShown = signal(false)

const SECOND_KEY_MS = 1500
let afterG = -Infinity

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
}

export function listenToKeys() {
  window.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || document.querySelector('dialog[open]')) return
    const second = performance.now() - afterG < SECOND_KEY_MS
    afterG = -Infinity
    if (second) {
      const page = pages.find((candidate) => candidate.nav?.key === event.key)
      if (!page) return
      event.preventDefault()
      go(page.route === '' ? [] : page.route.split('/'))
    } else if (event.key === 'g') {
      afterG = performance.now()
    } else if (event.key === '/') {
      const field = document.querySelector<HTMLInputElement>('[data-search]')
      if (!field) return
      event.preventDefault()
      field.focus()
      field.select()
    } else if (event.key === '?') {
      event.preventDefault()
      keysShown.value = true
    }
  })
}

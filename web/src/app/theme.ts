// Dark or light: by the system's setting, unless the switch in the header says otherwise.
import { computed, signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'
const STORED = 'duewheel.theme'

function initial(): Theme {
  const stored = localStorage.getItem(STORED)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

const system = window.matchMedia('(prefers-color-scheme: dark)')
const systemDark = signal(system.matches)
system.addEventListener('change', (event) => (systemDark.value = event.matches))

export const theme = signal<Theme>(initial())
/** What is shown. Charts draw again when it changes. */
export const dark = computed(() => (theme.value === 'system' ? systemDark.value : theme.value === 'dark'))

function show() {
  if (theme.value === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme.value
}
show()

/** System, light, dark, and again. */
export function switchTheme() {
  theme.value = theme.value === 'system' ? 'light' : theme.value === 'light' ? 'dark' : 'system'
  if (theme.value === 'system') localStorage.removeItem(STORED)
  else localStorage.setItem(STORED, theme.value)
  show()
}

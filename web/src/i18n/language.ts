// The language of the interface. Every page and part of the interface has its own dictionary with both languages; the types
// make a missing or extra key of the second language a compile error. Reading an entry inside a component subscribes the
// component to the language, so that a switch redraws it.
import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

export type Language = 'en' | 'zh'
export const LANGUAGES: { code: Language; name: string }[] = [
  { code: 'en', name: 'English' },
  { code: 'zh', name: '中文' },
]

const STORED = 'duewheel.language'

function initial(): Language {
  const stored = localStorage.getItem(STORED)
  if (stored === 'en' || stored === 'zh') return stored
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en'
}

export const language = signal<Language>(initial())

export function setLanguage(code: Language) {
  localStorage.setItem(STORED, code)
  language.value = code
}

/** The tag for Intl: Chinese is simplified Chinese; English follows the browser's region, if it has one. */
export function locale(): string {
  if (language.value === 'zh') return 'zh-CN'
  return navigator.languages.find((tag) => tag.toLowerCase().startsWith('en')) ?? 'en-GB'
}

// Arguments of entries differ; each entry keeps its own type.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Entry = string | ((...values: any[]) => ComponentChildren)
type Text<T> = { readonly [K in keyof T]: T[K] extends string ? string : T[K] }

/** A part of the dictionary: `const t = dictionary({ pause: 'Pause' }, { pause: '暂停' })`, then `t.pause`. */
export function dictionary<const T extends Record<string, Entry>>(en: T, zh: Text<NoInfer<T>>): Text<T> {
  const text = {}
  for (const key of Object.keys(en)) {
    Object.defineProperty(text, key, { get: () => (language.value === 'zh' ? zh : en)[key], enumerable: true })
  }
  return text as Text<T>
}

/** English needs two forms: `${count} ${plural(n, 'message', 'messages')}`. */
export function plural(count: number, one: string, other: string): string {
  return count === 1 ? one : other
}

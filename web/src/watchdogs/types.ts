// The documents of watchdogs, as src/ingress/openapi.json describes them: the members that the dashboard reads.
export interface WatchdogSettings {
  queue: string
  timeout_ms: number
  max_ms?: number
  repeat_every_ms?: number
  body?: string
  body_base64?: string
  json?: unknown
  content_type?: string
}

export interface Watchdog {
  namespace?: string
  watchdog: string
  state: 'armed' | 'asleep'
  revision: number
  created_ms: number
  due_ms?: number
  blocked_by?: string
  last_fed_ms: number
  feeds: number
  fired: number
  merged: number
  overdue?: { due_ms: number; last_fed_ms: number }
  last_fired?: { id: string; due_ms: number }
  settings: WatchdogSettings
}

export interface WatchdogPage {
  watchdogs: Watchdog[]
  cursor?: string
}

export interface FeedResponse {
  due_ms: number
  late: boolean
}

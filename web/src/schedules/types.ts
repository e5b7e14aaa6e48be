// The documents of schedules, as src/ingress/openapi.json describes them: the members that the dashboard reads.
import type { Retry } from '../api/types'

export interface ScheduleSettings {
  queue: string
  cron?: string
  every_ms?: number
  iso?: string
  at?: string
  zone?: string
  dst?: 'shift' | 'skip'
  dst_repeat?: 'first' | 'both'
  closed?: string
  start?: string
  end?: string
  times?: number
  jitter_ms?: number
  misfire: 'once' | 'all' | 'skip'
  misfire_window_ms?: number
  overlap: 'allow' | 'skip' | 'queue_one'
  body?: string
  body_base64?: string
  json?: unknown
  content_type?: string
  headers?: Record<string, string>
  priority?: number
  order_key?: string
  expires_in_ms?: number
  retry?: Retry
}

export interface Schedule {
  namespace?: string
  schedule: string
  state: 'active' | 'paused' | 'ended' | 'invalid_zone'
  paused: boolean
  revision: number
  created_ms: number
  next_ms?: number
  next_occurrence?: number
  blocked_by?: string
  runs: { made: number; late: number; manual: number; skipped: number; merged: number }
  last_run?: { id: string; nominal_ms: number }
  waiting_run?: { occurrence: number; nominal_ms: number }
  last_skipped?: { reason: 'missed' | 'too_old' | 'paused' | 'overlap'; count: number; from_ms: number; to_ms: number }
  zone_data: string
  settings: ScheduleSettings
}

export interface SchedulePage {
  schedules: Schedule[]
  cursor?: string
}

export interface Preview {
  zone: string
  zone_data: string
  times: {
    occurrence?: number
    nominal_ms: number
    local: string
    due_ms: number
    clock_change?: 'shifted' | 'first_pass' | 'second_pass'
  }[]
  excluded: { nominal_ms: number; local: string; reason: 'closed_day' | 'skipped_time' | 'repeated_time' }[]
  more_excluded?: boolean
}

// The documents of the HTTP API, as src/ingress/openapi.json describes them: the members that the dashboard reads.
export type Scope = 'put' | 'read' | 'consume' | 'cancel' | 'schedule' | 'admin'

export interface QueueStats {
  namespace?: string
  queue: string
  ready: number
  leased: number
  waiters: number
  dead: number
  pending: number
  paused: boolean
  backlog_on_disk: boolean
  oldest_due_ms?: number
}

export interface KafkaPartition {
  topic: string
  partition: number
  state: 'reading' | 'waiting' | 'stopped'
  reason?: string
  position?: number
  lag?: number
}

export interface Stats {
  instance: string
  version: string
  disk_free_bytes: number
  server_time_ms: number
  pending: number
  ready: number
  leased: number
  waiters: number
  dead_letters: number
  accepted: number
  delivered: number
  done: number
  failed: number
  cancelled: number
  expired: number
  rescheduled: number
  leases_lost: number
  dead: number
  held: number
  requeued: number
  in_memory: number
  unsealed_segments: number
  puts_stalled: boolean
  lateness_p50_ms: number
  lateness_p99_ms: number
  lateness_max_ms: number
  wait_p50_ms: number
  wait_p99_ms: number
  queue_count: number
  queues: QueueStats[]
  kafka?: {
    brokers_up: number
    out: Record<string, number>
    in: { records: number; messages: number; errors: number; partitions?: KafkaPartition[] }
  }
}

export interface Retry {
  attempts?: number
  first_ms?: number
  factor?: number
  max_ms?: number
  jitter?: number
}

export interface WebhookTarget {
  webhook: {
    url: string
    secrets?: string[]
    headers?: Record<string, string>
    timeout_ms?: number
    concurrency?: number
    rate?: number
  }
}

export interface KafkaTarget {
  kafka: { topic: string; key?: string; partition?: number; delivery?: 'exactly_once' | 'at_least_once' }
}

export interface QueueSettings {
  target?: 'pull' | WebhookTarget | KafkaTarget
  paused?: boolean
  lease_ms?: number
  retry?: Retry
  limits?: { pending?: number; per_second?: number }
}

export type TargetStateName = 'ok' | 'probing' | 'backing_off' | 'gone' | 'misconfigured' | 'disabled'

export interface TargetState {
  state: TargetStateName
  reason?: 'failures' | 'retry_after'
  until_ms?: number
  in_flight: number
}

export interface Queue {
  namespace?: string
  queue: string
  paused: boolean
  paused_by?: 'target'
  pending: number
  scheduled: number
  prepared: number
  ready: number
  leased: number
  held: number
  dead: number
  waiters: number
  backlog_on_disk: boolean
  purge?: { started_ms: number; purged: number }
  discard?: { started_ms: number; died_before_ms: number; discarded: number }
  webhook?: TargetState
  kafka?: TargetState
  settings: QueueSettings
  /** Only of one queue: what applies to it, from its settings and those of the server. */
  in_force?: { lease_ms: number; retry: Required<Retry> }
}

export interface QueuePage {
  queues: Queue[]
  cursor?: string
}

export const WAITING_STATES = ['prepared', 'scheduled', 'ready', 'leased', 'retrying', 'held'] as const
export type MessageState = (typeof WAITING_STATES)[number] | 'done' | 'cancelled' | 'expired' | 'dead'

export interface Message {
  id: string
  namespace?: string
  queue: string
  state: MessageState
  due_ms: number
  nominal_due_ms?: number
  answer_by_ms?: number
  checks?: number
  expires_ms?: number
  order_key?: string
  key?: string
  priority: number
  attempts: number
  maybe_delivered: boolean
  lease_until_ms?: number
  retry?: Retry
  repeat?: { every_ms: number; times?: number; factor?: number; max_ms?: number; until_ms?: number }
  next_occurrence?: number
  blocked_by?: string
  parent?: string
  schedule?: string
  watchdog?: string
  last_fed_ms?: number
  occurrence?: number
  transaction?: unknown
  check?: { message: string; number: number; times: number; otherwise: string }
  put_ms?: number
  ended_ms?: number
  reason?: string
  body?: string
  body_base64?: string
  json?: unknown
  content_type?: string
  headers?: Record<string, string>
  kafka?: Record<string, unknown>
  traceparent?: string
}

export interface MessagePage {
  messages: Message[]
  cursor?: string
}

export interface Ended {
  id: string
  queue: string
  outcome: 'done' | 'cancelled' | 'expired' | 'dead'
  cause: string
  ended_ms: number
  lateness_ms?: number
  wait_ms?: number
  attempts: number
  maybe_delivered: boolean
}

export interface HistoryPage {
  ended: Ended[]
  cursor?: string
}

export interface Clock {
  server_time_ms: number
  wall_clock_ms: number
  wall_clock_ahead_ms: number
  state: 'steady' | 'slow' | 'quarantine' | 'held' | 'test'
  on_jump: 'hold' | 'accept'
  jumps: number
}

export interface Readiness {
  ready: boolean
  reason?: string
}

/** The answer of `GET /v1/lateness`. Rows without deliveries are omitted. */
export interface LatenessHour {
  row_ms: number
  from_ms: number
  until_ms: number
  rows: LatenessRow[]
}

export interface LatenessRow {
  time_ms: number
  count: number
  p50_ms: number
  p99_ms: number
  max_ms: number
  wait_p50_ms: number
  wait_p99_ms: number
}

/** A line of the server's log: its members beside these four are the details. */
export interface LogLine {
  time_ms: number
  level: string
  event: string
  message?: string
  [member: string]: unknown
}

/** The answer of `/v1/session`. */
export interface Session {
  tokens_required: boolean
  token: {
    id: string
    description?: string
    scopes: Scope[]
    namespaces?: string[]
    /** A prefix of queue names. */
    queues?: string
    expires_ms?: number
  } | null
}

/** The answer of a call that changes one message. */
export interface Outcome {
  outcome: string
  attempts: number
  maybe_delivered: boolean
  due_ms?: number
}

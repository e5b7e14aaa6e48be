// The documents of namespaces, as src/ingress/openapi.json describes them.
export const LIMITS = ['pending', 'queues', 'schedules', 'watchdogs', 'put_rate'] as const

export interface Namespace {
  namespace: string
  pending: number
  queues: number
  schedules: number
  watchdogs: number
  settings: { limits?: Partial<Record<(typeof LIMITS)[number], number>>; weight?: number }
}

export interface NamespacePage {
  namespaces: Namespace[]
  cursor?: string
}

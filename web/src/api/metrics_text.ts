// Reads the metrics of the server: the Prometheus text format, as far as the server uses it. Pure.

export interface Metrics {
  values: Map<string, number>
  /** Limits with a use, by the name of the setting, the fullest first. */
  limits: { name: string; use: number; limit: number }[]
}

const LINE = /^([a-z_:][a-z0-9_:]*)(?:\{([^}]*)\})? (\S+)$/i

export function parseMetrics(text: string): Metrics {
  const values = new Map<string, number>()
  const limits = new Map<string, number>()
  const uses = new Map<string, number>()
  for (const line of text.split('\n')) {
    const match = LINE.exec(line)
    if (!match) continue
    const [, name, labels, value] = match as unknown as [string, string, string | undefined, string]
    if (labels === undefined) values.set(name, Number(value))
    else if (name === 'duewheel_limit' || name === 'duewheel_limit_use') {
      const limit = /^limit="([^"]*)"$/.exec(labels)?.[1]
      if (limit !== undefined) (name === 'duewheel_limit' ? limits : uses).set(limit, Number(value))
    }
  }
  const known = [...uses].filter(([name, use]) => use > 0 && (limits.get(name) ?? 0) > 0).map(([name, use]) => ({ name, use, limit: limits.get(name)! }))
  return { values, limits: known.sort((a, b) => b.use / b.limit - a.use / a.limit) }
}

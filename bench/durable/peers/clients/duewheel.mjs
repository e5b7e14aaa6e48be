// Duewheel over HTTP with undici, the client library of Node's own project: kept connections, one request at a time on each.
import { load } from '../packages.mjs'

const { Pool } = load('undici')
const CONSUMERS = 4
const LEASE = JSON.stringify({ max: 100, wait: '20s' })
const HEADERS = { 'content-type': 'application/json' }

export async function connect(address, queue, outstanding) {
  const pool = new Pool(address, { connections: outstanding, pipelining: 1 })
  const leases = new Pool(address, { connections: CONSUMERS, pipelining: 1 })
  let closing = false

  async function call(from, method, path, body) {
    const { statusCode, body: content } = await from.request({ method, path, headers: body ? HEADERS : undefined, body })
    const response = await content.json()
    if (statusCode >= 300) throw new Error(`${method} ${path}: ${statusCode} ${JSON.stringify(response)}`)
    return response
  }

  async function consumeLoop({ delivered, acknowledged }) {
    while (!closing) {
      const { messages } = await call(leases, 'POST', `/v1/queues/${queue}:lease`, LEASE)
      if (messages.length === 0) continue
      for (const { body } of messages) delivered(body)
      const { results } = await call(leases, 'POST', '/v1/leases:ack', JSON.stringify({ leases: messages.map(({ lease }) => lease) }))
      results.forEach(({ outcome }, index) => outcome === 'done' && acknowledged(messages[index].body))
    }
  }

  return {
    put: async (body, delayS) =>
      (await call(pool, 'POST', `/v1/queues/${queue}/messages`, JSON.stringify({ body, delay: `${delayS}s` }))).id,
    cancel: (id) => call(pool, 'DELETE', `/v1/messages/${id}`),
    async consume(handlers) {
      for (let index = 0; index < CONSUMERS; ++index) consumeLoop(handlers).catch((error) => { if (!closing) throw error })
    },
    async close() {
      closing = true
      await Promise.all([pool.destroy(), leases.destroy()])
    },
  }
}

// Duewheel over HTTP with undici, the client library of Node's own project: kept connections, one request at a time on each.
import { load } from '../packages.mjs'

const { Pool } = load('undici')
const CONSUMERS = 4
const LEASE = JSON.stringify({ max: 100, wait: '20s' })
const JSON_TYPE = { 'content-type': 'application/json' }
const LINES_TYPE = { 'content-type': 'application/x-ndjson' }

export async function connect(address, queue, outstanding) {
  const pool = new Pool(address, { connections: outstanding, pipelining: 1 })
  const leases = new Pool(address, { connections: CONSUMERS, pipelining: 1 })
  let closing = false

  async function call(from, method, path, body) {
    const { statusCode, body: content } = await from.request({ method, path, headers: body ? JSON_TYPE : undefined, body })
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

  const content = ({ body, delayS }) => JSON.stringify({ body, delay: `${delayS}s` })

  return {
    put: async (body, delayS) => (await call(pool, 'POST', `/v1/queues/${queue}/messages`, content({ body, delayS }))).id,
    async putBatch(messages) {
      const { body } = await pool.request({ method: 'POST', path: `/v1/queues/${queue}/messages:batch`, headers: LINES_TYPE, body: messages.map(content).join('\n') })
      const lines = (await body.text()).trimEnd().split('\n')
      const refused = lines.find((line) => JSON.parse(line).status !== 201)
      if (refused) throw new Error(`a put was refused: ${refused}`)
    },
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

// bunqueue with its own client library, which is for Bun only, so that Bun runs this load program, too. With `durable` the server commits a job
// to SQLite before the response, and not up to 10 ms after it. A worker without `pollTimeout` asks again 50 ms after an empty response; with it the
// server holds the request until a job is due.
import { load } from '../packages.mjs'

const { Queue, Worker } = load('bunqueue/client')
const OPTIONS = { durable: true, removeOnComplete: true }
const POLL_MS = 20_000

export async function connect(address, name, outstanding) {
  const { hostname, port } = new URL(address)
  const connection = { host: hostname, port: Number(port) }
  const queue = new Queue(name, { connection })
  let worker

  return {
    put: async (body, delayS) => (await queue.add('message', { body }, { ...OPTIONS, delay: delayS * 1000 })).id,
    cancel: (id) => queue.removeAsync(id),
    putBatch: (messages) => queue.addBulk(messages.map(({ body, delayS }) => ({ name: 'message', data: { body }, opts: { ...OPTIONS, delay: delayS * 1000 } }))),
    async consume({ delivered, acknowledged }) {
      worker = new Worker(name, async (job) => delivered(job.data.body), { connection, concurrency: outstanding, batchSize: outstanding, pollTimeout: POLL_MS })
      worker.on('completed', (job) => acknowledged(job.data.body))
      worker.on('error', (error) => { throw error })
    },
    async close() {
      await worker?.close(true)
      await queue.close()
    },
  }
}

// Redis with BullMQ: one connection for puts, as its documentation has it, and one worker.
import { load } from '../packages.mjs'

const { Queue, Worker } = load('bullmq')
const OPTIONS = { removeOnComplete: true }

export async function connect(address, name, outstanding) {
  const { hostname, port } = new URL(address)
  const connection = { host: hostname, port: Number(port), maxRetriesPerRequest: null }
  const queue = new Queue(name, { connection })
  await queue.waitUntilReady()
  let worker

  return {
    put: async (body, delayS) => (await queue.add('message', { body }, { ...OPTIONS, delay: delayS * 1000 })).id,
    async cancel(id) {
      if ((await queue.remove(id)) !== 1) throw new Error(`job ${id} was not removed`)
    },
    putBatch: (messages) => queue.addBulk(messages.map(({ body, delayS }) => ({ name: 'message', data: { body }, opts: { ...OPTIONS, delay: delayS * 1000 } }))),
    async consume({ delivered, acknowledged }) {
      worker = new Worker(name, async (job) => delivered(job.data.body), { connection, concurrency: outstanding })
      worker.on('completed', (job) => acknowledged(job.data.body))
      worker.on('error', (error) => { throw error })
      await worker.waitUntilReady()
    },
    async close() {
      await worker?.close()
      await queue.close()
    },
  }
}

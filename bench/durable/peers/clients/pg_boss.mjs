// PostgreSQL with pg-boss. Its worker polls, every half second at the shortest, and does not report when an acknowledgement is
// on disk; so these consumers call fetch and complete themselves, with the same interval, and without it while jobs are due.
import { load } from '../packages.mjs'

const PgBoss = load('pg-boss')
const CONSUMERS = 4
const POOL = 16
const POLL_MS = 500

export async function connect(address, queue) {
  const boss = new PgBoss({ connectionString: address, max: POOL, schedule: false })
  boss.on('error', (error) => { throw error })
  await boss.start()
  await boss.createQueue(queue)
  let closing = false
  const loops = []

  async function consumeLoop({ delivered, acknowledged }) {
    while (!closing) {
      const jobs = await boss.fetch(queue, { batchSize: 100 })
      if (jobs.length === 0) {
        await new Promise((resolve) => setTimeout(resolve, POLL_MS))
        continue
      }
      for (const { data } of jobs) delivered(data.body)
      await boss.complete(queue, jobs.map(({ id }) => id))
      for (const { data } of jobs) acknowledged(data.body)
    }
  }

  return {
    put: (body, delayS) => boss.send(queue, { body }, { startAfter: delayS }),
    cancel: (id) => boss.cancel(queue, id),
    putBatch: (messages) => boss.insert(messages.map(({ body, delayS }) => ({ name: queue, data: { body }, startAfter: new Date(Date.now() + delayS * 1000) }))),
    async consume(handlers) {
      for (let index = 0; index < CONSUMERS; ++index) loops.push(consumeLoop(handlers))
    },
    async close() {
      closing = true
      await Promise.all(loops)
      await boss.stop({ graceful: false, wait: true })
    },
  }
}

// The same with BullMQ on Redis: PORT COUNT CONCURRENCY. LIMITER_MAX: jobs a second that the worker may start; no limiter without it.
import { load } from '../peers/packages.mjs'
import { Ledger, batches } from './ledger.mjs'

const [port, count, concurrency] = process.argv.slice(2)
const { Queue, Worker } = load('bullmq')
const ledger = new Ledger(+count)
const connection = { host: '127.0.0.1', port: +port }
const jobs = new Queue('jobs', { connection, defaultJobOptions: { removeOnComplete: true } })
const limiter = process.env.LIMITER_MAX ? { max: +process.env.LIMITER_MAX, duration: 1000 } : undefined
const worker = new Worker('jobs', async (job) => { ledger.handled(job.data.n) }, { connection, concurrency: +concurrency, limiter })
await worker.waitUntilReady()
const start = performance.now()
for (const batch of batches(+count)) await jobs.addBulk(batch.map((data) => ({ name: 'job', data })))
const put = performance.now()
await ledger.done
await worker.close() // when all is completed
ledger.report(put - start, performance.now() - start)
await jobs.close()

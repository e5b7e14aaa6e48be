// One process that puts COUNT messages and handles them, with Duewheel's client for Node: PACKAGE URL COUNT CONCURRENCY.
import { Ledger, batches } from './ledger.mjs'

const [packagePath, url, count, concurrency] = process.argv.slice(2)
const { Duewheel, Worker } = await import(packagePath)
const ledger = new Ledger(+count)
const client = new Duewheel({ url })
const jobs = client.queue('jobs')
const worker = new Worker(jobs, async (data) => { ledger.handled(data.n) }, { concurrency: +concurrency })
await worker.start()
const start = performance.now()
for (const batch of batches(+count)) await jobs.putMany(batch.map((data) => ({ data })))
const put = performance.now()
await ledger.done
await worker.stop() // when all is acknowledged
ledger.report(put - start, performance.now() - start)
client.close()

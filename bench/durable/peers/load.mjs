// The load of the comparison with other servers: the same program for all of them, each through its usual client library.
//
//     node load.mjs CLIENT ADDRESS     CLIENT is a file of clients/
//
// Each line of its input is a run, as JSON, and each line of its output that run's result:
//
//     {"run": "puts", "queue": "a", "seconds": 3}             puts due in 1 to 24 hours
//     {"run": "cancels", "queue": "b", "seconds": 3}          each put is cancelled at once; due in CANCEL_DELAY_S without the cancel
//     {"run": "flow", "queue": "c", "seconds": 3}             puts due in a second, delivered and acknowledged meanwhile
//     {"run": "lateness", "queue": "d", "seconds": 3, "rate": 200}
//     {"run": "batches", "queue": "f", "seconds": 2}          puts due in 1 to 24 hours, BATCH in each call
//     {"run": "after_cancel", "queue": "b"}                   consumes what the run of cancels left, until all was due
//     {"run": "fill", "queue": "e", "count": 100000}          the same, a number of messages
//
// A client without `cancel` or `putBatch` cannot do these runs. Puts, cancels and flow keep OUTSTANDING calls in progress. Delays are whole seconds, because beanstalkd has no others.
import { createInterface } from 'node:readline'
import { Ledger, bodyOf, levels, numberOf } from './ledger.mjs'

const OUTSTANDING = 64
const BATCH = 500
const BATCHES_OUTSTANDING = 4
const CANCEL_DELAY_S = 6
const FLOW_DELAY_S = 1
const HOUR_S = 3600
// A run ends without the rest if nothing has come for this long.
const PATIENCE_MS = 5000

const [, , clientName, address] = process.argv
const { connect } = await import(`./clients/${clientName}.mjs`)
const cancelLedgers = new Map()

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const farDelay = () => HOUR_S + Math.floor(Math.random() * 23 * HOUR_S)

/** Calls `step(number)` repeatedly for `seconds`, with `outstanding` calls in progress. Returns the number of calls. */
async function repeat(seconds, step, outstanding = OUTSTANDING) {
  let next = 0
  const endMs = performance.now() + seconds * 1000
  const loop = async () => {
    while (performance.now() < endMs) await step(next++)
  }
  await Promise.all(Array.from({ length: outstanding }, loop))
  return next
}

let nextInBatch = 0
const batchOf = (count) => Array.from({ length: count }, () => ({ body: bodyOf(nextInBatch++), delayS: farDelay() }))

async function put(client, ledger, number, delayS) {
  const body = bodyOf(number)
  ledger.sent(number, Date.now(), delayS * 1000)
  const id = await client.put(body, delayS)
  ledger.accepted(number)
  return id
}

function consume(client, ledger) {
  return client.consume({
    delivered: (body) => ledger.delivered(numberOf(body), Date.now()),
    acknowledged: (body) => ledger.acknowledged(numberOf(body), Date.now()),
  })
}

/** Waits until every accepted message is acknowledged. */
async function finish(ledger) {
  while (ledger.undone > 0 && Date.now() < Math.max(ledger.lastEventMs, ledger.lastDueMs) + PATIENCE_MS) await pause(20)
}

const runs = {
  async puts(client, { seconds }) {
    const took = []
    const beganMs = performance.now()
    const calls = await repeat(seconds, async () => {
      const callMs = performance.now()
      await client.put(bodyOf(took.length), farDelay())
      took.push(performance.now() - callMs)
    })
    return { accepted: calls, per_second: calls / ((performance.now() - beganMs) / 1000), took_ms: levels(took) }
  },

  async cancels(client, { queue, seconds }) {
    if (!client.cancel) return { cannot: true }
    const ledger = new Ledger()
    cancelLedgers.set(queue, ledger)
    const beganMs = performance.now()
    const pairs = await repeat(seconds, async (number) => {
      await client.cancel(await put(client, ledger, number, CANCEL_DELAY_S))
      ledger.cancelled(number)
    })
    return { per_second: (2 * pairs) / ((performance.now() - beganMs) / 1000) }
  },

  async after_cancel(client, { queue }) {
    const ledger = cancelLedgers.get(queue)
    if (!ledger) return { cannot: true }
    await consume(client, ledger)
    await pause(Math.max(0, ledger.lastDueMs - Date.now()) + 1000)
    return ledger.report()
  },

  async flow(client, { seconds }) {
    const ledger = new Ledger()
    await consume(client, ledger)
    const beganMs = Date.now()
    await repeat(seconds, (number) => put(client, ledger, number, FLOW_DELAY_S))
    await finish(ledger)
    const report = ledger.report()
    const elapsedMs = Math.max(seconds * 1000, ledger.lastAcknowledgedMs - beganMs - FLOW_DELAY_S * 1000)
    return { per_second: report.acknowledged / (elapsedMs / 1000), ...report }
  },

  async lateness(client, { seconds, rate }) {
    const ledger = new Ledger()
    await consume(client, ledger)
    const puts = []
    const beganMs = performance.now()
    for (let number = 0; number < rate * seconds; ++number) {
      const waitMs = beganMs + (number * 1000) / rate - performance.now()
      if (waitMs > 0) await pause(waitMs)
      puts.push(put(client, ledger, number, FLOW_DELAY_S))
    }
    await Promise.all(puts)
    await finish(ledger)
    return ledger.report()
  },

  async batches(client, { seconds }) {
    if (!client.putBatch) return { cannot: true }
    const beganMs = performance.now()
    const calls = await repeat(seconds, () => client.putBatch(batchOf(BATCH)), BATCHES_OUTSTANDING)
    return { per_second: (calls * BATCH) / ((performance.now() - beganMs) / 1000) }
  },

  async fill(client, { count }) {
    for (let left = count; left > 0; left -= BATCH) await client.putBatch(batchOf(Math.min(BATCH, left)))
    return { accepted: count }
  },
}

for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line)
  const client = await connect(address, order.queue, OUTSTANDING)
  const cpu = process.cpuUsage()
  const result = await runs[order.run](client, order)
  const used = process.cpuUsage(cpu)
  if (order.run !== 'fill') await client.close() // what is measured after a fill has the memory of its sessions
  console.log(JSON.stringify({ ...result, client_cpu_seconds: (used.user + used.system) / 1e6 }))
}
process.exit(0)

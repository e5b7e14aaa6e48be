// The adapter of the TypeScript client: README.md of the conformance scenarios, "The protocol". The main thread only reads and writes
// lines. The client and its workers are in another thread, so that a handler that computes holds up no `finish_work`.
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { Worker as Thread, isMainThread, parentPort, workerData } from 'node:worker_threads'

const WORKERS_MAX = 1024 // of one process

if (isMainThread) {
  const { compiled } = await import('../../../typescript/build.mjs')
  const released = new Int32Array(new SharedArrayBuffer(4 * WORKERS_MAX)) // for each worker, by its number
  const numbers = new Map() // by name, of the newest worker with this name
  let count = 0
  const thread = new Thread(new URL(import.meta.url), { workerData: { library: pathToFileURL(`${compiled()}/`).href, released } })
  thread.on('message', (line) => process.stdout.write(line))
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { do: call, with: members } = JSON.parse(line)
    if (call === 'work') numbers.set(members.worker, count++)
    if (call === 'finish_work') Atomics.store(released, numbers.get(members.worker), 1)
    thread.postMessage({ line, number: numbers.get(members.worker) })
  }).on('close', () => process.exit(0))
} else {
  const { library, released } = workerData
  const duewheel = await import(`${library}index.js`)
  const { decode, encode } = await import(`${library}json.js`)
  const { Duewheel, Json } = duewheel
  const INSTANTS = new Set(['due', 'expires', 'start', 'end'])
  const OPAQUE = new Set(['headers', 'kafka', 'json', 'progress', 'checkpoint', 'result'])
  const FAMILIES = { InvalidRequest: 'invalid', Unauthorized: 'unauthorized', NotFound: 'not_found', Conflict: 'conflict', Throttled: 'throttled', Unavailable: 'unavailable' }
  const clients = new Map()
  const workers = new Map()
  let inProgress = 0 // calls of the runner

  /** Members as a user of the client writes them: names in camelCase, instants as dates, the content as `data`. */
  const native = (members) => {
    const { body, body_base64: base64, ...others } = members
    const found = Object.fromEntries(Object.entries(others).filter(([name]) => name !== 'json').map(([name, value]) => [
      name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase()),
      OPAQUE.has(name) ? value : INSTANTS.has(name) ? new Date(value) : typeof value === 'object' && value !== null && !Array.isArray(value) ? native(value) : value,
    ]))
    if ('json' in members) found.data = new Json(members.json)
    else if (base64 !== undefined) found.data = new Uint8Array(Buffer.from(base64, 'base64'))
    else if (body !== undefined) found.data = body
    return found
  }
  const raw = (each) => each.raw ?? each
  const resultsOf = (results) => ({ results: results.map((each) => (each instanceof duewheel.DuewheelError ? { error: shown(each) } : raw(each))) })
  const shown = ({ name, code, detail, field, outcome }) => ({ family: FAMILIES[name], code, detail, ...(field && { field }), ...(outcome && { outcome }) })
  const which = ({ id, queue, key, ...others }) => [id ?? { queue, key }, others]

  class Flip {
    constructor(name) { this.name = name }
    encode(data) { return data.map((byte) => byte ^ 0x5a) }
    decode(data) {
      const flipped = this.encode(data)
      if (flipped.includes(0xff)) throw new Error('0xff')
      return flipped
    }
  }

  const calls = {
    put: async (client, { queue, data, ...options }) => raw(await client.put(queue, data, options)),
    put_many: async (client, { queue, messages }) => resultsOf(await client.putMany(queue, messages.map(native))),
    lease: async (client, { queue, ...options }) => ({ messages: (await client.lease(queue, options)).map(raw) }),
    ack: (client, { leaseToken, result }) => client.ack(leaseToken, result),
    fail: (client, { leaseToken, reason, ...options }) => client.fail(leaseToken, reason, options),
    extend: (client, { leaseToken, ...options }) => client.extend(leaseToken, options),
    release: (client, { leaseToken, ...options }) => client.release(leaseToken, options),
    hold_leased: (client, { leaseToken }) => client.holdLeased(leaseToken),
    ack_many: async (client, { leaseTokens, result }) => resultsOf(await client.ackMany(leaseTokens, result)),
    fail_many: async (client, { leaseTokens, reason, ...options }) => resultsOf(await client.failMany(leaseTokens, reason, options)),
    extend_many: async (client, { leaseTokens, ...options }) => resultsOf(await client.extendMany(leaseTokens, options)),
    release_many: async (client, { leaseTokens, ...options }) => resultsOf(await client.releaseMany(leaseTokens, options)),
    get: async (client, members) => raw(await client.get(...which(members))),
    cancel: (client, members) => client.cancel(...which(members)),
    move: (client, members) => client.move(...which(members)),
    list: async (client, { queue, ...options }) => {
      const messages = []
      for await (const message of client.list(queue, options)) messages.push(message.raw)
      return { messages }
    },
    advance: (client, { by, to }) => client.advance(by ?? { to: new Date(to) }),
    ...Object.fromEntries(['fire', 'hold', 'kick', 'discard', 'commit', 'rollback'].map((verb) => [verb, (client, { id }) => client[verb](id)])),
  }
  for (const kind of ['queue', 'schedule', 'watchdog']) {
    for (const verb of ['set', 'change', 'get', 'delete', 'pause', 'resume', 'purge', 'fire', 'feed', 'preview']) {
      calls[`${verb}_${kind}`] = (client, { [kind]: name, ...settings }) => client[`${kind}s`][verb](name, settings)
    }
  }
  calls.back_off_group = (client, { queue, group, for: time }) => client.queues.backOffGroup(queue, group, time)
  calls.redrive = (client, { queue, ...settings }) => client.queues.redrive(queue, settings)

  /** A worker whose handler does, at the nth delivery of a message, the nth of `outcomes`, and then the last. */
  class Work {
    messages = []
    running = 0

    constructor(client, { worker: name, queue, outcomes, concurrency, lease }, number) {
      this.outcomes = outcomes
      this.number = number
      this.worker = new duewheel.Worker(client.queue(queue), (data, context) => this.handle(data, context), { name, concurrency, lease, log: () => {} })
    }

    async handle(data, context) {
      const nth = this.messages.filter((each) => each.id === context.id).length
      const entry = { id: context.id, data, attempt: context.attempt, group: context.group, checkpoint: context.checkpoint, cancelled: false }
      this.messages.push(entry)
      this.running++
      try {
        const [[verb, value]] = Object.entries(this.outcomes[Math.min(nth, this.outcomes.length - 1)])
        return await this.follow(verb, value, context, entry)
      } finally {
        this.running--
      }
    }

    async follow(verb, value, context, entry) {
      const isReleased = () => Atomics.load(released, this.number) === 1
      switch (verb) {
        case 'checkpoint':
          context.progress(0.5, { checkpoint: value[0] })
          return this.follow(...Object.entries(value[1])[0], context, entry)
        case 'return': return value
        case 'return_what_is_no_json': return new Map([[1, 2]])
        case 'raise': throw new Error(value)
        case 'retry': throw new duewheel.Retry('again', { after: value })
        case 'snooze': throw new duewheel.Snooze(value)
        case 'dead': throw new duewheel.Dead(value)
        case 'take': return void await new Promise((resolve) => setTimeout(resolve, parseFloat(value))) // in ms
        case 'compute':
          while (inProgress) await new Promise((resolve) => setTimeout(resolve, 10)) // such as the put of this message
          while (!isReleased());
          return undefined
        case 'progress':
          context.progress(0.5, { checkpoint: value })
      }
      while (!isReleased()) { // "wait", until it is let go or cancelled
        if (context.cancelled && !entry.cancelled) {
          entry.cancelled = true
          if (verb !== 'ignore_cancel') throw context.signal.reason
        }
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      return value
    }
  }
  calls.work = async (client, members, number) => {
    const work = new Work(client, members, number)
    workers.set(members.worker, work)
    await work.worker.start()
    return {}
  }
  calls.handled = (client, { worker }) => ({ messages: workers.get(worker).messages, running: workers.get(worker).running })
  calls.finish_work = () => ({})
  calls.stop_work = async (client, { worker, timeout }) => {
    await workers.get(worker).worker.stop({ timeout })
    return {}
  }
  /** Those of the scenario before, whose handlers may wait for ever. */
  const endWorkers = () => {
    for (const { number, worker } of workers.values()) {
      Atomics.store(released, number, 1)
      void worker.stop({ timeout: '0s' })
    }
    workers.clear()
  }

  const carryOut = async (request, number) => {
    const { do: call, client: name, with: members } = request
    if (call === 'hello') return { name: 'typescript', capabilities: ['codec', 'take', 'versions', 'workers'] }
    if (call === 'connect') {
      if (name === 'client') endWorkers()
      const { url, token, timeout, ca, namespace, codec } = members
      clients.set(name, new Duewheel({ url, token, timeout, namespace, ca: ca && readFileSync(ca), codec: codec && new Flip(codec) }))
      return {}
    }
    return calls[call](clients.get(name), native(members), number)
  }

  parentPort.on('message', async ({ line, number }) => {
    const request = decode(line)
    const answer = { id: request.id }
    inProgress++
    try {
      answer.ok = await carryOut(request, number)
    } catch (error) {
      if (error instanceof duewheel.DuewheelError) answer.error = shown(error)
      else answer.failed = error.stack ?? String(error)
    }
    inProgress--
    parentPort.postMessage(encode(answer) + '\n')
  })
}

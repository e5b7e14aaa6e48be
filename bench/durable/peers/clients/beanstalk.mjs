// beanstalkd's protocol with jackd: a connection for each call in progress, and as many consumers.
import { load } from '../packages.mjs'

const JackdClient = load('jackd')
const TTR_S = 60

export async function connect(address, queue, outstanding) {
  const { hostname, port } = new URL(address)
  const all = []
  let closing = false

  async function open() {
    const client = new JackdClient()
    all.push(client)
    await client.connect({ host: hostname, port: Number(port) })
    client.socket.on('error', (error) => { if (!closing) throw error })
    return client
  }

  const free = []
  for (let index = 0; index < outstanding; ++index) {
    const client = await open()
    await client.use(queue)
    free.push(client)
  }

  // The run of lateness sends at its own pace: a call waits until a connection is free.
  const waiting = []
  async function withConnection(call) {
    const client = free.pop() ?? (await new Promise((resolve) => waiting.push(resolve)))
    try {
      return await call(client)
    } finally {
      const next = waiting.shift()
      if (next) next(client)
      else free.push(client)
    }
  }

  async function consumeLoop({ delivered, acknowledged }) {
    const client = await open()
    await client.watch(queue)
    while (!closing) {
      const { id, payload } = await client.reserve()
      const body = payload.toString()
      delivered(body)
      await client.delete(id)
      acknowledged(body)
    }
  }

  return {
    put: (body, delayS) => withConnection((client) => client.put(body, { delay: delayS, ttr: TTR_S })),
    cancel: (id) => withConnection((client) => client.delete(id)),
    async consume(handlers) {
      for (let index = 0; index < outstanding; ++index) consumeLoop(handlers).catch((error) => { if (!closing) throw error })
    },
    async close() {
      closing = true
      for (const client of all) client.socket.destroy()
    },
  }
}

// The picture of the dashboard in README.md and docs/dashboard.md: dashboard_picture.mjs FILE.png, with DUEWHEEL_BIN. A daemon under a
// light load, with a queue that is late, and dead letters.
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Daemon } from './daemon.mjs'

const LOAD_MS = 45_000
const EVERY_MS = 120

const require = createRequire(fileURLToPath(new URL('../../build/web/', import.meta.url)))
const { chromium } = require('playwright-core')
const daemon = await new Daemon(['--test-clock']).start()
let browser

async function consume(queue, end) {
  while (performance.now() < end) {
    const { messages } = await daemon.call('POST', `/v1/queues/${queue}:lease`, { max: 100, wait: '500ms' })
    if (messages.length > 0) await daemon.call('POST', '/v1/leases:ack', { leases: messages.map((message) => message.lease) })
  }
}

try {
  for (let count = 0; count < 24; count++) await daemon.put('invoices', { body: 'send invoice' })
  for (let count = 0; count < 7; count++) await daemon.put('refunds', { body: 'refund' })
  await daemon.call('POST', '/v1/queues/refunds:pause')
  await daemon.call('POST', '/v1/clock:advance', { by: '11m' })
  for (let count = 0; count < 3; count++) await daemon.putDead('webhooks', 'call', 'the receiver answered 500')
  for (let count = 0; count < 400; count++) await daemon.put('reminders', { body: 'reminder', delay: `${count + 5}m` })
  browser = await chromium.launch({
    executablePath: process.env.DUEWHEEL_CHROMIUM ?? '/usr/bin/chromium', args: process.getuid() === 0 ? ['--no-sandbox'] : [],
  })
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 }, locale: 'en-GB' })
  await page.goto(daemon.url)
  const end = performance.now() + LOAD_MS
  const consumers = ['orders', 'mail'].map((queue) => consume(queue, end))
  let count = 0
  while (performance.now() < end) {
    const burst = 1 + Math.round(4 * (1 + Math.sin(count / 25)))
    await Promise.all(Array.from({ length: burst }, (_, index) => daemon.put(index % 2 ? 'orders' : 'mail', { body: 'x', delay: `${index * 20}ms` })))
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
    count += 1
  }
  await Promise.all(consumers)
  await page.screenshot({ path: process.argv[2] })
} finally {
  await browser?.close()
  await daemon.remove()
}

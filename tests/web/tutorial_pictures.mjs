// The pictures of docs/tutorial/2_schedules_and_retries.md: tutorial_pictures.mjs FOLDER, with DUEWHEEL_BIN. They are dead_letters.png and
// schedule.png, of a daemon with what that page puts.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Daemon } from './daemon.mjs'

const { chromium } = createRequire(fileURLToPath(new URL('../../build/web/', import.meta.url)))('playwright-core')
const daemon = await new Daemon(['--test-clock']).start()
const browser = await chromium.launch({
  executablePath: process.env.DUEWHEEL_CHROMIUM ?? '/usr/bin/chromium', args: process.getuid() === 0 ? ['--no-sandbox'] : [],
})

async function draw(name, path, ready, height) {
  const page = await browser.newPage({ viewport: { width: 1280, height }, locale: 'en-GB', timezoneId: 'Europe/Berlin', colorScheme: 'light' })
  await page.goto(`${daemon.url}/${path}`)
  await page.getByText(ready).first().waitFor()
  await page.screenshot({ path: join(process.argv[2], name) })
}

try {
  for (const [card, reason] of [[7, 'the bank does not answer'], [8, 'the card has expired'], [9, 'the bank does not answer']]) {
    await daemon.putDead('payments', `{"card": ${card}}`, reason)
  }
  await draw('dead_letters.png', '#/dead?queue=payments', 'the card has expired', 640)
  await daemon.call('POST', '/v1/clock:advance', { to: '2035-03-22T08:00:00Z' })
  await daemon.call('PUT', '/v1/schedules/report', { queue: 'reports', body: 'Make the report', cron: '30 2 * * *', zone: 'Europe/Berlin' })
  await daemon.call('POST', '/v1/clock:advance', { by: '2d' })
  await draw('schedule.png', '#/schedules/report', 'At 02:30, every day', 490)
} finally {
  await browser.close()
  await daemon.remove()
}

// A server with 100,000 queues and a million pending messages: the pages load what they show and no more.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { checkWidth, eventually, useBrowser, useDaemon, waitForText, withPage } from './browser.mjs'

const QUEUES = 99_000
const MESSAGES = 1_000_000
const BATCH = 1000
const AT_ONCE = 64

useBrowser()
const daemon = useDaemon()

/** Runs `count` calls, some of them at once. */
async function many(count, call) {
  let next = 0
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (next < count) await call(next++)
  }))
}

before(async () => {
  const names = Array.from({ length: QUEUES }, (_, index) => `queue-${String(index).padStart(6, '0')}`)
  await many(QUEUES, (index) => daemon.put(names[index], { body: 'x', delay: '1d' }))
  const start = Date.now() + 3_600_000
  await many(MESSAGES / BATCH, async (batch) => {
    const lines = Array.from({ length: BATCH }, (_, index) => `{"body": "x", "due": "${new Date(start + (batch * BATCH + index) * 80).toISOString()}"}`)
    const response = await fetch(`${daemon.url}/v1/queues/big/messages:batch`, {
      method: 'POST', headers: { 'Content-Type': 'application/x-ndjson' }, body: lines.join('\n'),
    })
    assert.equal(response.status, 200)
    await response.text()
  })
}, { timeout: 900_000 })

test('the overview counts them', () =>
  withPage(daemon, '', {}, async (page) => {
    await waitForText(page.locator('.figure', { hasText: 'Pending' }), '1.1M')
    await waitForText(page.locator('.figure', { hasText: 'Pending' }), '99,001 queues')
    await checkWidth(page)
  }))

test('queues are paged and searched by the server', () =>
  withPage(daemon, '#/queues', {}, async (page) => {
    await waitForText(page.locator('tbody'), 'queue-000000')
    assert.equal(await page.locator('tbody tr').count(), 50)
    await page.keyboard.press('/')
    await page.keyboard.type('queue-098765')
    await eventually('one is found', async () => (await page.locator('tbody tr').count()) === 1)
    await page.getByRole('link', { name: 'queue-098765' }).click()
    await waitForText(page.locator('.figure', { hasText: 'Pending' }), '1')
  }))

test('the messages of a full queue are paged, and narrowed by their due time', () =>
  withPage(daemon, '#/messages?queue=big', {}, async (page) => {
    await eventually('a page is full', async () => (await page.locator('tbody tr').count()) === 50)
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText('Page 2').waitFor()
    await eventually('a page is full', async () => (await page.locator('tbody tr').count()) === 50)
  }))

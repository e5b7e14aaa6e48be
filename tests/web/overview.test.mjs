// The first page: an operator sees which queue is late, and why.
import { test } from 'node:test'
import { checkLooks, useBrowser, useDaemon, waitForText, withPage } from './browser.mjs'

useBrowser()
const daemon = useDaemon(['--test-clock'])

const attention = (page) => page.getByRole('table', { name: 'What needs attention' }).getByRole('row')
const line = (page, queue) => attention(page).filter({ has: page.getByRole('link', { name: queue, exact: true }) })

test('an empty server needs no attention', () =>
  withPage(daemon, '', {}, async (page) => {
    await page.getByText('Nothing. No queue is late, and no message is dead.').waitFor()
    await page.getByText('No queue yet.').waitFor()
    await page.getByText('The server is healthy').waitFor()
  }))

test('late queues come with the reason, and dead letters with their number', async () => {
  await daemon.put('mail', { body: 'no consumer takes it' })
  await daemon.put('letters', { body: 'paused' })
  await daemon.call('POST', '/v1/queues/letters:pause')
  await daemon.putDead('fragile')
  await daemon.put('in-time', { body: 'due tomorrow', delay: '1d' })
  await daemon.call('POST', '/v1/clock:advance', { by: '10m' })
  await withPage(daemon, '', {}, async (page) => {
    await waitForText(line(page, 'mail'), /10 min.*No consumer leases from it/)
    await waitForText(line(page, 'letters'), /10 min.*Paused/)
    await waitForText(line(page, 'fragile'), '1 dead letter')
    await page.getByText('The server needs attention').waitFor()
    await line(page, 'mail').getByRole('link', { name: 'mail' }).click()
    await waitForText(page.locator('main h1'), 'mail')
    await waitForText(page.locator('.about'), 'No consumer leases from it')
  })
})

test('a late queue is found among hundreds of busier ones', async () => {
  for (let first = 0; first < 240; first += 40) {
    await Promise.all(Array.from({ length: 40 }, async (_, index) => {
      for (let count = 0; count < 3; count++) await daemon.put(`busy-${first + index}`, { body: 'x', delay: '9d' })
    }))
  }
  await daemon.put('zz-quiet', { body: 'no consumer takes it' })
  await daemon.call('POST', '/v1/clock:advance', { by: '3m' })
  await withPage(daemon, '', {}, async (page) => {
    await waitForText(line(page, 'zz-quiet'), /3 min.*No consumer leases from it/)
    await line(page, 'zz-quiet').getByRole('link', { name: 'zz-quiet' }).click()
    await waitForText(page.locator('.about'), /3 min.* late.*No consumer leases from it/)
  })
  const { messages } = await daemon.call('GET', '/v1/queues/zz-quiet/messages')
  await daemon.call('DELETE', `/v1/messages/${messages[0].id}`)
})

test('the counters move without a reload', () =>
  withPage(daemon, '', {}, async (page) => {
    const pending = page.locator('.figure', { hasText: 'Pending' }).locator('.figure-value')
    // On a busy machine the first figure may be older than the last change of the test before.
    const { pending: first } = await daemon.call('GET', '/v1/stats')
    await waitForText(pending, String(first))
    await daemon.put('mail', { body: 'one more', delay: '1h' })
    await waitForText(pending, String(first + 1))
  }))

test('a queue of another namespace is led to in its namespace', async () => {
  await daemon.call('POST', '/v1/namespaces/team/queues/post/messages', { body: 'x' })
  await withPage(daemon, '', {}, async (page) => {
    await page.getByRole('table', { name: 'Busiest queues' }).getByRole('link', { name: /post/ }).click()
    await waitForText(page.locator('main h1'), 'post')
    await waitForText(page.locator('.namespace'), 'team')
    await page.getByRole('link', { name: 'Messages', exact: true }).click()
    await waitForText(page.locator('.namespace'), 'team')
  })
})

test('it can be read by all, in both themes and in a narrow window', () =>
  checkLooks(daemon, '', (page) => page.getByRole('table').first().waitFor()))

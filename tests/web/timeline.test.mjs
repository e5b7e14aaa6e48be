// The timeline: what becomes due, the busiest time in words, and the way to the messages of a bar.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkLooks, eventually, useBrowser, useDaemon, waitForText, withPage } from './browser.mjs'

useBrowser()
const daemon = useDaemon()

test('a server where nothing is due says so', () =>
  checkLooks(daemon, '#/timeline', (page) => waitForText(page.locator('.section strong'), /Nothing becomes due|没有消息到期/)))

test('the page in both themes and languages, and in a narrow window', async () => {
  await daemon.put('now', { body: 'x' })
  const minute = Math.floor((await daemon.call('GET', '/v1/clock')).server_time_ms / 60_000)
  const put = async (queue, minutes, count) => {
    for (let number = 0; number < count; ++number) await daemon.put(queue, { body: 'x', due_ms: (minute + minutes) * 60_000 + 30_000 })
  }
  await put('mail', 12, 5)
  await put('orders', 12, 2)
  await put('orders', 40, 3)
  await put('mail', 20 * 60, 20)
  await put('mail', 20 * 24 * 60, 4)
  await checkLooks(daemon, '#/timeline', (page) => waitForText(page.locator('.section strong'), /with 7 messages|7 条消息/))
})

test('the busiest time is in words, in an hour and in a day', () =>
  withPage(daemon, '#/timeline', {}, async (page) => {
    await waitForText(page.locator('.section strong'), /^Busiest: .*\d\d:\d\d.* to \d\d:\d\d, with 7 messages\.$/)
    await waitForText(page.locator('.figure').first(), /Due now\s*1/)
    await page.getByLabel('Time ahead').selectOption('day')
    await waitForText(page.locator('.section strong'), /Busiest: .*\d\d:\d\d.* to \d\d:\d\d, with 20 messages\./)
    await waitForText(page.locator('.figure').nth(1), '30')
    await page.getByLabel('Time ahead').selectOption('month')
    await waitForText(page.locator('.figure').nth(1), '34')
    await waitForText(page.locator('.section-aside'), 'One bar is 6 hrs.')
  }))

test('tomorrow’s peak is in words, whatever range is shown', async () => {
  // The pages of the tests are in Oslo; ten o'clock of UTC is before or at noon there.
  const { server_time_ms: now } = await daemon.call('GET', '/v1/clock')
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Oslo' }).format(now)
  const noon = Date.parse(`${today}T10:00:00Z`) + 86_400_000
  for (let number = 0; number < 25; ++number) await daemon.put('tomorrow', { body: 'x', due_ms: noon })
  await withPage(daemon, '#/timeline?queue=tomorrow', {}, (page) => waitForText(page.locator('.section p').first(), /Tomorrow’s peak: \d\d:\d\d to \d\d:\d\d, with 25 messages\./))
  const { messages } = await daemon.call('GET', '/v1/queues/tomorrow/messages?limit=100')
  for (const { id } of messages) await daemon.call('DELETE', `/v1/messages/${id}`)
})

test('a queue is chosen, and its address leads to the same', () =>
  withPage(daemon, '#/timeline', {}, async (page) => {
    await page.getByLabel('Queue', { exact: true }).fill('orders')
    await page.keyboard.press('Enter')
    await waitForText(page.locator('main h1'), 'Timeline orders')
    await waitForText(page.locator('.section strong'), 'with 3 messages')
    await page.reload()
    await waitForText(page.locator('main h1'), 'Timeline orders')
    await waitForText(page.locator('.figure').nth(1), '5')
  }))

test('a bar leads to the messages of its time, by queue', () =>
  withPage(daemon, '#/timeline', {}, async (page) => {
    await page.getByText('As a table').click()
    const row = page.getByRole('row').filter({ hasText: '7' }).first()
    await row.getByRole('button').click()
    const chosen = page.locator('.section').filter({ hasText: 'Due from' })
    await waitForText(chosen, '7 messages')
    const rows = chosen.locator('tbody tr')
    await eventually('both queues are listed', async () => (await rows.count()) === 2)
    assert.match(await rows.first().innerText(), /mail\s*5/)
    const link = await rows.first().getByRole('link', { name: 'Show messages' }).getAttribute('href')
    assert.match(link, /^#\/messages\?queue=mail&after=.+&before=.+$/)
    await chosen.getByRole('button', { name: 'Close' }).click()
    await chosen.waitFor({ state: 'detached' })
  }))

test('a message in the smallest of many queues is found, and a run of a schedule whose queue is empty', async () => {
  const minute = Math.floor((await daemon.call('GET', '/v1/clock')).server_time_ms / 60_000)
  await Promise.all(Array.from({ length: 40 }, async (_, index) => {
    for (let count = 0; count < 2; count++) await daemon.put(`large-${index}`, { body: 'x', delay: '9d' })
  }))
  const due_ms = (minute + 50) * 60_000 + 30_000
  await daemon.put('small', { body: 'x', due_ms })
  await daemon.call('PUT', '/v1/schedules/once', { queue: 'empty', body: '', at: new Date(due_ms).toISOString() })
  await withPage(daemon, `#/timeline?at=${(minute + 50) * 60_000}`, {}, async (page) => {
    const chosen = page.locator('.section').filter({ hasText: 'Due from' })
    await chosen.getByRole('link', { name: 'small' }).waitFor()
    await chosen.getByRole('row').filter({ hasText: 'empty' }).getByText('created when they are due').waitFor()
  })
  await daemon.call('DELETE', '/v1/schedules/once')
})

test('where the server stops counting, the page does not say that nothing is due tomorrow', async () => {
  await daemon.call('PUT', '/v1/schedules/often', { queue: 'often', body: '', every: '1s' })
  await daemon.call('POST', '/v1/queues/often:pause')
  await withPage(daemon, '#/timeline?queue=often', {}, async (page) => {
    const words = page.locator('.section p').first()
    await waitForText(words, /The server stopped counting before tomorrow\.|Of tomorrow it counted only/)
    assert.doesNotMatch(await words.innerText(), /Nothing is due tomorrow/)
  })
  await daemon.call('DELETE', '/v1/schedules/often')
})

test('bars are enlarged by dragging, and all are shown again', () =>
  withPage(daemon, '#/timeline', {}, async (page) => {
    await waitForText(page.locator('.section strong'), 'with 7 messages')
    const box = await page.locator('.u-over').boundingBox()
    await page.mouse.move(box.x + box.width * 0.5, box.y + 100)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.95, box.y + 100, { steps: 5 })
    await page.mouse.up()
    await waitForText(page.locator('.section strong'), 'with 3 messages')
    await page.getByRole('button', { name: 'Show all' }).click()
    await waitForText(page.locator('.section strong'), 'with 7 messages')
  }))

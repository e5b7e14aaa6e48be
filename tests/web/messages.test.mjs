// Browsing messages, finding one, and the page of one message: hostile contents do nothing, and every action works.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkAccess, checkLooks, checkWidth, eventually, useBrowser, useDaemon, waitForText, withPage } from './browser.mjs'

useBrowser()
const daemon = useDaemon()

const get = (id) => daemon.call('GET', `/v1/messages/${id}`)
const fact = (page, name) => page.locator('.facts > div', { has: page.locator('dt', { hasText: name }) }).locator('dd')
const button = (page, name) => page.getByRole('button', { name, exact: true })

test('without a queue the page says what to do', () =>
  withPage(daemon, '#/messages', {}, (page) => page.getByText('Choose a queue to see its messages.').waitFor()))

test('messages are browsed by queue, state and due window, page by page', async () => {
  const lines = Array.from({ length: 120 }, (_, index) => JSON.stringify({ body: `${index}`, due: new Date(Date.UTC(2035, 0, 1, 0, index)).toISOString() }))
  const response = await fetch(`${daemon.url}/v1/queues/mail/messages:batch`, { method: 'POST', headers: { 'Content-Type': 'application/x-ndjson' }, body: lines.join('\n') })
  assert.equal(response.status, 200)
  await response.text()
  const ready = await daemon.put('mail', { body: 'now' })
  const held = await daemon.put('mail', { body: 'held', held: true })
  await withPage(daemon, '#/messages', {}, async (page) => {
    const ids = page.locator('tbody tr td:first-child')
    await page.getByLabel('Queue').fill('mail')
    await page.keyboard.press('Enter')
    await eventually('the first page is full', async () => (await ids.count()) === 50)
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText('Page 2').waitFor()
    await page.getByText('Held', { exact: true }).click()
    await waitForText(ids, held.id)
    await eventually('only the held one is listed', async () => (await ids.count()) === 1)
    await page.getByText('Ready', { exact: true }).click()
    await eventually('both states are listed', async () => (await ids.allInnerTexts()).sort().join() === [held.id, ready.id].sort().join())
    await page.getByText('All unfinished').click()
    await page.getByLabel('Due from').fill('2035-01-01T01:10')
    await page.getByLabel('Due before').fill('2035-01-01T01:20')
    // The browser is in Oslo, an hour ahead of UTC.
    await eventually('ten are due in the window', async () => (await ids.count()) === 10)
    await page.reload()
    await eventually('the address keeps the choice', async () => (await ids.count()) === 10)
  })
})

test('a message is found by id and by key', async () => {
  const { id } = await daemon.put('orders', { body: 'x', key: 'order 7', delay: '1h' })
  await withPage(daemon, '#/messages?queue=orders', { expected: [/status of 404/] }, async (page) => {
    await page.keyboard.press('/')
    await page.keyboard.type('order 7')
    await page.keyboard.press('Enter')
    await waitForText(page.locator('main h1'), `Message ${id}`)
    await page.goBack()
    await page.getByRole('searchbox').fill(id)
    await page.keyboard.press('Enter')
    await waitForText(page.locator('main h1'), `Message ${id}`)
    await page.goBack()
    await page.getByRole('searchbox').fill('order 8')
    await page.keyboard.press('Enter')
    await waitForText(page.getByRole('alert'), 'unknown_key')
  })
})

test('an unknown id is explained', () =>
  withPage(daemon, '#/messages/999999999', { expected: [/status of 404/] }, (page) => waitForText(page.getByRole('alert'), 'unknown_id')))

test('script in content, headers, keys and reasons is only text', async () => {
  const script = '<script>window.hit = 1; alert(1)</script><img src=x onerror="window.hit = 1; alert(2)">'
  const id = await daemon.putDead('hostile', script, script)
  const kept = await daemon.put('hostile', { body: script, content_type: 'text/html', headers: { x: script }, key: script, order_key: script, delay: '1h' })
  for (const one of [id, kept.id]) {
    await withPage(daemon, `#/messages/${one}`, {}, async (page) => {
      await waitForText(page.locator('.body-view pre').first(), '<script>window.hit')
      await page.getByText('Show the answer of the server').click()
      assert.equal(await page.evaluate(() => window.hit), undefined)
      assert.equal(await page.locator('main img, main script').count(), 0)
    })
  }
  await withPage(daemon, '#/messages?queue=hostile', {}, async (page) => {
    await waitForText(page.locator('tbody'), '<script>')
    assert.equal(await page.evaluate(() => window.hit), undefined)
  })
})

test('marks that turn the direction of text are shown, and do not reorder the page', async () => {
  const { id } = await daemon.put('mail', { body: 'photo\u202egnp.exe and \u2066more\u2069, مرحبا, soft\u00adhyphen \u{e0041}tag ❤️', key: 'key\u202eyek', delay: '1h' })
  await withPage(daemon, `#/messages/${id}`, {}, async (page) => {
    await waitForText(page.locator('.body-view pre').first(), 'U+202E')
    await waitForText(page.locator('.body-view pre').first(), 'مرحبا')
    await waitForText(page.locator('.body-view pre').first(), 'softU+00ADhyphen U+E0041tag ❤️')
    await waitForText(fact(page, 'Idempotency key'), 'U+202E')
    assert.equal(await page.evaluate(() => document.querySelector('main').innerText.includes('\u202e')), false)
  })
})

test('bytes are shown as bytes', async () => {
  const bytes = Buffer.from([0, 1, 2, 255, 254, 60, 98, 62])
  const { id } = await daemon.put('pictures', { body_base64: bytes.toString('base64'), content_type: 'image/png', delay: '1h' })
  await withPage(daemon, `#/messages/${id}`, {}, async (page) => {
    await waitForText(page.locator('.body-view pre').first(), '00 01 02 ff fe 3c 62 3e')
    await waitForText(page.locator('.body-foot').first(), '8 B')
  })
})

test('a mebibyte of JSON is cut, with a way to see it whole', async () => {
  const row = (index) => ({ id: index, text: 'x'.repeat(80) })
  const json = Array.from({ length: 9800 }, (_, index) => row(index))
  assert.ok(JSON.stringify(json).length > 900_000)
  const { id } = await daemon.put('big', { json, delay: '1h' })
  await withPage(daemon, `#/messages/${id}`, {}, async (page) => {
    const content = page.locator('.body-view pre').first()
    await waitForText(content, '"id": 0')
    assert.ok((await content.textContent()).length <= 20_000)
    await page.getByRole('button', { name: 'Show all' }).first().click()
    await eventually('the last row is there', async () => (await content.textContent()).includes('"id": 9799'))
    await checkWidth(page)
  })
})

test('an empty body says so', async () => {
  const { id } = await daemon.put('mail', { body: '', delay: '1h' })
  await withPage(daemon, `#/messages/${id}`, {}, (page) => page.getByText('The content is empty.').waitFor())
})

test('times far ahead and far back are shown', async () => {
  const far = await daemon.put('far', { body: 'x', delay: '3650d' })
  const past = await daemon.put('far', { body: 'x', due: '2001-02-03T04:05:06Z' })
  await withPage(daemon, `#/messages/${far.id}`, {}, async (page) => {
    await waitForText(fact(page, 'Due'), /20\d\d/)
    assert.equal(await fact(page, 'Due').locator('time').first().getAttribute('datetime'), new Date(far.due_ms).toISOString())
  })
  await withPage(daemon, `#/messages/${past.id}`, {}, (page) => waitForText(fact(page, 'Due'), '2001'))
})

test('a message is moved, held, kicked, delivered now and cancelled', async () => {
  const { id, due_ms } = await daemon.put('actions', { body: 'x', delay: '1h' })
  await withPage(daemon, `#/messages/${id}`, { expected: [/status of 400/] }, async (page) => {
    await button(page, 'Move').click()
    const move = page.getByRole('dialog', { name: `Move message ${id}` })
    assert.equal(await move.getByRole('button', { name: 'Move' }).isDisabled(), true)
    await move.getByLabel('Due in').fill('tomorrow')
    await move.getByRole('button', { name: 'Move' }).click()
    await waitForText(move.getByRole('alert'), /duration/i)
    await move.getByLabel('Due in').fill('2d')
    await move.getByRole('button', { name: 'Move' }).click()
    await move.waitFor({ state: 'detached' })
    await waitForText(page.locator('.notices'), 'Moved. It is due')
    assert.ok((await get(id)).due_ms > due_ms)
    await button(page, 'Hold').click()
    await waitForText(page.locator('.about'), 'Held')
    await button(page, 'Kick').click()
    await waitForText(page.locator('.about'), 'Scheduled')
    await button(page, 'Deliver now').click()
    await waitForText(page.locator('.about'), 'Ready')
    await button(page, 'Cancel message').click()
    const dialog = page.getByRole('dialog', { name: `Cancel message ${id}?` })
    await waitForText(dialog, 'This ends 1 message for good')
    await checkAccess(page)
    await dialog.getByRole('button', { name: 'Cancel message' }).click()
    await waitForText(dialog, 'The message was cancelled.')
    await dialog.getByRole('button', { name: 'Close' }).click()
    await waitForText(page.locator('.about'), 'Cancelled')
    await waitForText(page.locator('.section', { hasText: 'History' }), 'cancelled')
    assert.equal(await button(page, 'Cancel message').count(), 0)
  })
})

test('the consumer of a leased message is asked to stop', async () => {
  const { id } = await daemon.put('running', { body: 'x' })
  const { messages } = await daemon.call('POST', '/v1/queues/running:lease', { wait: '20s' })
  await withPage(daemon, `#/messages/${id}`, {}, async (page) => {
    await button(page, 'Ask to stop').click()
    const dialog = page.getByRole('dialog', { name: `Ask the consumer of message ${id} to stop?` })
    await waitForText(dialog, 'It is not retried.')
    await dialog.getByRole('button', { name: 'Ask to stop' }).click()
    await waitForText(dialog, 'The consumer is asked to stop.')
    await dialog.getByRole('button', { name: 'Close' }).click()
    await waitForText(page.locator('.about'), 'A stop was requested')
    assert.equal(await button(page, 'Ask to stop').count(), 0)
    assert.equal((await daemon.call('POST', `/v1/leases/${messages[0].lease}:fail`)).outcome, 'cancelled')
    await waitForText(page.locator('.about'), 'Cancelled')
  })
})

test('what its workers have said is shown', async () => {
  const { id } = await daemon.put('work', { body: 'x', held: true })
  const message = await get(id)
  const started = new Date(Date.now() - 90_000).toISOString()
  const ended = new Date(Date.now() - 60_000).toISOString()
  const said = {
    state: 'leased', lease_until_ms: Date.now() + 60_000, worker: 'worker 7', progress: 0.4, result: { files: ['<b>a</b>'] },
    timeline: [{ attempt: 1, started, ended, outcome: 'failed', reason: 'no route', worker: 'worker 6' }, { attempt: 2, started: ended, worker: 'worker 7' }],
  }
  const whole = (more) => `${JSON.stringify({ ...message, ...said, ...more }).slice(0, -1)},"checkpoint":{"row":12345678901234567890}}`
  await withPage(daemon, '#/queues', {}, async (page) => {
    let shown = whole({})
    await page.route(`**/v1/messages/${id}`, (route) => route.fulfill({ contentType: 'application/json', body: shown }))
    await page.evaluate((to) => { window.location.hash = to }, `#/messages/${id}`)
    await waitForText(page.locator('main h1'), `Message ${id}`)
    const section = (title) => page.locator('.section', { has: page.getByRole('heading', { name: title, exact: true }) })
    await waitForText(fact(page, 'Leased by'), /worker 7, since/)
    await waitForText(section('Result'), '<b>a</b>')
    await waitForText(section('Progress'), '40%')
    assert.equal(await page.getByRole('progressbar', { name: 'Progress' }).getAttribute('value'), '0.4')
    await waitForText(section('Checkpoint'), '12345678901234567890')
    await waitForText(section('Attempts'), /no route/)
    await waitForText(section('Attempts'), /running/)
    await checkAccess(page)
    await checkWidth(page)  // the table of attempts once stood in half of the page, and over its edge
    shown = whole({ cancel_requested: true, progress: { step: 'upload' } })
    await waitForText(page.locator('.about'), 'A stop was requested')
    await waitForText(section('Progress'), '"step": "upload"')
  })
})

test('a message shows its group, and the limit that it waits for', async () => {
  await daemon.call('PUT', '/v1/queues/shared', { groups: { leased: 1 } })
  await daemon.put('shared', { body: 'first', group: 'acme' })
  await daemon.call('POST', '/v1/queues/shared:lease', { wait: '20s', lease: '1h' })
  const { id } = await daemon.put('shared', { body: 'second', group: 'acme' })
  await withPage(daemon, `#/messages/${id}`, {}, async (page) => {
    await waitForText(fact(page, 'Blocked'), 'Waits for the limit of group acme')
    await fact(page, 'Group').getByRole('link', { name: 'acme' }).click()
    await waitForText(page.locator('main h1'), 'shared')
    await eventually('the group is found', async () => (await page.getByLabel('Find a group').inputValue()) === 'acme')
  })
  await withPage(daemon, '#/messages?queue=shared', {}, (page) => waitForText(page.locator('tbody tr', { hasText: id }), 'acme'))
  await daemon.call('POST', '/v1/queues/shared/groups/acme:backoff', { for: '1h' })
  await withPage(daemon, `#/messages/${id}`, {}, (page) => waitForText(page.locator('.facts'), 'Waits for the backoff of group acme'))
})

test('an action that comes too late says so', async () => {
  const { id } = await daemon.put('late', { body: 'x', delay: '1h' })
  await withPage(daemon, `#/messages/${id}`, { expected: [/status of 409/] }, async (page) => {
    await button(page, 'Cancel message').click()
    const dialog = page.getByRole('dialog', { name: `Cancel message ${id}?` })
    await daemon.call('POST', `/v1/messages/${id}:fire`)
    await daemon.call('POST', '/v1/queues/late:lease', { wait: '20s' })
    await dialog.getByRole('button', { name: 'Cancel message' }).click()
    await waitForText(dialog.getByRole('alert'), 'in_flight')
  })
})

test('a dead letter is kicked, and another one discarded', async () => {
  const first = await daemon.putDead('ruins')
  const second = await daemon.putDead('ruins')
  await withPage(daemon, `#/messages/${first}`, {}, async (page) => {
    await waitForText(fact(page, 'Reason'), 'the printer is on fire')
    await button(page, 'Kick').click()
    await waitForText(page.locator('.about'), 'Ready')
  })
  await withPage(daemon, `#/messages/${second}`, {}, async (page) => {
    await button(page, 'Discard').click()
    const dialog = page.getByRole('dialog', { name: `Discard dead letter ${second}?` })
    await dialog.getByRole('button', { name: 'Discard' }).click()
    await waitForText(dialog, 'The dead letter was discarded.')
  })
})

test('a recurring message shows its rule, and cannot be moved or fired', async () => {
  // The page looked for `until_ms`, which the server does not answer with, so that the end was never shown.
  const { id } = await daemon.put('rounds', { body: 'x', delay: '1h', repeat: { every: '90m', times: 5, until: '2031-06-15T12:00:00Z' } })
  await withPage(daemon, `#/messages/${id}`, {}, async (page) => {
    await waitForText(fact(page, 'Every'), '1 hr 30 min')
    await waitForText(fact(page, 'Until'), '2031')
    assert.equal(await button(page, 'Move').count(), 0)
    assert.equal(await button(page, 'Deliver now').count(), 0)
  })
})

test('the list can be read by all, in both themes and in a narrow window', () =>
  checkLooks(daemon, '#/messages?queue=mail', (page) => page.locator('tbody tr').first().waitFor()))

test('the page of a message can be read by all', async () => {
  const { id } = await daemon.put('mail', { json: { order: 7, lines: [1, 2, 3] }, headers: { to: 'ann' }, key: 'k'.repeat(250), delay: '1h' })
  await checkLooks(daemon, `#/messages/${id}`, (page) => page.locator('.body-view').first().waitFor())
})

// The list of queues and the page of one queue: numbers, reasons, and every action.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkAccess, checkLooks, eventually, useBrowser, useDaemon, waitForText, withPage } from './browser.mjs'

useBrowser()
const daemon = useDaemon()

const STRANGE = 'größe/δοκιμή+$(x);y.中文_اختبار'
const path = (queue) => `/v1/queues/${encodeURIComponent(queue)}`
const pageOf = (queue) => `#/queues/${encodeURIComponent(queue)}`
const figure = (page, name) => page.locator('.figure', { hasText: name }).locator('.figure-value')

test('an empty server has no queues, and says when one exists', () =>
  withPage(daemon, '#/queues', {}, (page) => page.getByText('No queue yet.').waitFor()))

test('the list has the queues, and sorts them by numbers', async () => {
  await daemon.put(STRANGE, { body: 'x', delay: '1h' })
  for (let count = 0; count < 3; count++) await daemon.put('mail', { body: 'x', delay: '1h' })
  for (let count = 0; count < 2; count++) await daemon.put('orders', { body: 'x', delay: '1h' })
  await withPage(daemon, '#/queues', {}, async (page) => {
    const names = () => page.locator('tbody tr td:first-child').allInnerTexts()
    await page.getByRole('link', { name: STRANGE }).waitFor()
    await page.getByRole('button', { name: 'Pending' }).click()
    await eventually('the largest comes first', async () => (await names())[0] === 'mail')
    await page.getByRole('button', { name: 'Pending' }).click()
    await eventually('the smallest comes first', async () => (await names())[0] === STRANGE)
    await page.getByRole('link', { name: STRANGE }).click()
    await waitForText(page.locator('main h1'), STRANGE)
    await waitForText(figure(page, 'Pending'), '1')
  })
})

test('the slash key searches, and the server pages', async () => {
  for (let first = 0; first < 120; first += 40) {
    await Promise.all(Array.from({ length: 40 }, (_, index) => daemon.put(`many-${String(first + index).padStart(3, '0')}`, { body: 'x', delay: '1h' })))
  }
  await withPage(daemon, '#/queues', {}, async (page) => {
    await page.getByRole('link', { name: 'mail' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('many-')
    await page.getByRole('link', { name: 'many-000' }).waitFor()
    await page.getByRole('link', { name: 'mail', exact: true }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByRole('link', { name: 'many-050' }).waitFor()
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByRole('link', { name: 'many-119' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Next' }).isDisabled(), true)
    await page.getByRole('button', { name: 'Previous' }).click()
    await page.getByRole('link', { name: 'many-099' }).waitFor()
    await page.getByRole('searchbox').fill('many-11')
    await page.getByRole('link', { name: 'many-110' }).waitFor()
    await page.getByRole('searchbox').fill('nothing-like-this')
    await page.getByText('No queue has this text in its name.').waitFor()
    // Inside the names, too; and the order is that of all queues, not of the page.
    await page.getByRole('searchbox').fill('ny-11')
    await page.getByRole('link', { name: 'many-119' }).waitFor()
    assert.equal(await page.locator('tbody tr').count(), 10)
    await page.getByRole('searchbox').fill('')
    await page.getByRole('button', { name: 'Pending' }).click()
    await waitForText(page.locator('tbody tr').first(), 'mail')
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText('Page 2').waitFor()
    await page.getByRole('link', { name: /many-/ }).first().waitFor()
  })
})

test('a queue is paused and resumed', () =>
  withPage(daemon, pageOf('mail'), {}, async (page) => {
    await page.getByRole('button', { name: 'Pause' }).click()
    await waitForText(page.locator('.notices'), 'Paused mail')
    await page.getByRole('button', { name: 'Resume' }).waitFor()
    assert.equal((await daemon.call('GET', path('mail'))).paused, true)
    await page.getByRole('button', { name: 'Resume' }).click()
    await waitForText(page.locator('.notices'), 'Resumed mail')
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    assert.equal((await daemon.call('GET', path('mail'))).paused, false)
  }))

test('a purge says how many it ends, asks once, and shows what happened', () =>
  withPage(daemon, pageOf('mail'), {}, async (page) => {
    await page.getByRole('button', { name: 'Purge' }).click()
    const dialog = page.getByRole('dialog', { name: 'Purge mail?' })
    await waitForText(dialog, 'This ends 3 unfinished messages for good')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.equal((await daemon.call('GET', path('mail'))).pending, 3)
    await page.getByRole('button', { name: 'Purge' }).click()
    await dialog.getByRole('button', { name: 'Purge' }).click()
    await waitForText(dialog, 'Purged 3 messages.')
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Close')
    await dialog.getByRole('button', { name: 'Close' }).click()
    await eventually('the queue is empty', async () => (await daemon.call('GET', path('mail'))).pending === 0)
    await waitForText(figure(page, 'Pending'), /^0$/)
    assert.equal(await page.evaluate(() => document.activeElement.id), 'main')
  }))

// Someone opened the question of a purge and pressed Back: the question stayed over the other page, and its button purged.
test('a dialog closes when its page is left', () =>
  withPage(daemon, '#/queues', {}, async (page) => {
    await page.getByRole('searchbox').fill('orders')
    await page.getByRole('link', { name: 'orders' }).click()
    const dialog = page.getByRole('dialog')
    for (const button of ['Purge', 'Change', 'Keyboard shortcuts']) {
      await page.getByRole('button', { name: button }).click()
      await dialog.waitFor()
      await page.goBack()
      await dialog.waitFor({ state: 'detached' })
      await page.goForward()
      await waitForText(page.locator('main h1'), 'orders')
      assert.equal(await dialog.count(), 0)
    }
    // What was confirmed before is carried out, and a notice says so.
    let release
    await page.route(/:purge$/, async (route) => { await new Promise((resolve) => (release = resolve)); await route.continue() })
    await page.getByRole('button', { name: 'Purge' }).click()
    await dialog.getByRole('button', { name: 'Purge' }).click()
    await eventually('the call has begun', () => release)
    await page.goBack()
    await dialog.waitFor({ state: 'detached' })
    release()
    await waitForText(page.locator('.notice'), 'Purged 2 messages.')
  }))

test('dead letters are redriven, and discarded', async () => {
  await daemon.putDead('fragile')
  await daemon.putDead('fragile')
  await withPage(daemon, pageOf('fragile'), {}, async (page) => {
    await page.getByRole('button', { name: 'Redrive all' }).click()
    const redrive = page.getByRole('dialog', { name: 'Redrive the dead letters of fragile' })
    await waitForText(redrive, '2 dead letters return to the queue')
    await redrive.getByRole('button', { name: 'Redrive all' }).click()
    await waitForText(redrive, 'Returned 2 dead letters to the queue')
    await redrive.getByRole('button', { name: 'Close' }).click()
    await waitForText(figure(page, 'Ready'), /^2$/)
    await daemon.call('POST', `${path('fragile')}:purge`)
    await daemon.putDead('fragile')
    await page.getByRole('button', { name: 'Discard all' }).click()
    const discard = page.getByRole('dialog', { name: 'Discard the dead letters of fragile' })
    await waitForText(discard, '1 dead letter of this queue ends for good')
    await discard.getByRole('button', { name: 'Discard all' }).click()
    await waitForText(discard, 'Discarded 1 dead letter.')
    await discard.getByRole('button', { name: 'Close' }).click()
    await eventually('none is left', async () => (await daemon.call('GET', path('fragile'))).dead === 0)
  })
})

test('a test message is put, and what is wrong with it is explained', () =>
  withPage(daemon, pageOf('trial'), { expected: [/status of 404/, /status of 400/] }, async (page) => {
    await waitForText(page.getByRole('alert'), 'unknown_queue')
    await page.getByLabel('Content').fill('{"order": 12345678901234567890}')
    await page.getByLabel('Media type').fill('application/json')
    await page.getByLabel('Due in').fill('soon')
    await page.getByRole('button', { name: 'Put message' }).click()
    await waitForText(page.locator('.notice.bad'), /duration/i)
    await page.getByLabel('Due in').fill('1h')
    await page.getByLabel('Idempotency key').fill('order 7')
    await page.getByRole('button', { name: 'Put message' }).click()
    await page.locator('.notices').getByRole('link').click()
    await waitForText(page.locator('main h1'), /^Message \d+/)
    await waitForText(page.locator('.body-view pre'), '12345678901234567890')
    await waitForText(page.locator('.facts'), 'order 7')
  }))

test('settings are changed, and emptied ones are removed', async () => {
  await daemon.call('PUT', path('settings'), { limits: { pending: 10 }, retry: { factor: 3 } })
  await withPage(daemon, pageOf('settings'), { expected: [/status of 400/] }, async (page) => {
    await page.getByRole('button', { name: 'Change' }).click()
    const dialog = page.getByRole('dialog', { name: 'Settings of settings' })
    await dialog.getByLabel('Lease', { exact: true }).fill('never')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByLabel('Lease', { exact: true }).fill('2m')
    await dialog.getByLabel('Attempts').fill('3')
    await dialog.getByLabel('Limit of unfinished messages').fill('')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { settings } = await daemon.call('GET', path('settings'))
    assert.deepEqual(settings, { paused: false, lease_ms: 120000, retry: { attempts: 3, factor: 3 } })
  })
})

// A queue with a backoff of its own had "10 sec, then ×… up to …", and neither it nor a webhook could be changed.
test('the retry rule in force is shown with its origin, and changed', async () => {
  await daemon.call('PUT', path('backoff'), { retry: { first: '10s' } })
  await withPage(daemon, pageOf('backoff'), {}, async (page) => {
    const rule = page.locator('.facts div', { hasText: 'Backoff' })
    await waitForText(rule, /10 secs?, then ×2 up to 1 hr, ±20% · first set here, the rest as for the server/)
    await waitForText(page.locator('.facts div', { hasText: 'Attempts' }), '10 · as set for the server')
    await page.getByRole('button', { name: 'Change' }).click()
    const dialog = page.getByRole('dialog')
    assert.equal(await dialog.getByLabel('Longest backoff').getAttribute('placeholder'), '1h')
    await dialog.getByLabel('First backoff').fill('')
    await dialog.getByLabel('Growth').fill('1.5')
    await dialog.getByLabel('Jitter').fill('0')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await waitForText(rule, /1 sec, then ×1\.5 up to 1 hr, ±0% · growth, jitter set here/)
  })
})

test('a webhook and its headers are set and changed', async () => {
  await daemon.call('PUT', path('target'), { lease: '1m' })
  await withPage(daemon, pageOf('target'), {}, async (page) => {
    const dialog = page.getByRole('dialog')
    const targetOf = async () => (await daemon.call('GET', path('target'))).settings.target
    const save = async () => {
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.waitFor({ state: 'detached' })
    }
    await page.getByRole('button', { name: 'Change' }).click()
    await dialog.getByLabel('Target').selectOption('webhook')
    await dialog.getByLabel('Address').fill('https://receiver.invalid/in')
    await dialog.getByLabel('Posts per second').fill('5')
    for (const name of ['Authorization', 'X-Team']) {
      await dialog.getByRole('button', { name: 'Add a header' }).click()
      await dialog.getByLabel('Name').last().fill(name)
      await dialog.getByLabel('Value').last().fill('x')
    }
    await checkAccess(page)
    await save()
    assert.deepEqual(await targetOf(), { webhook: { url: 'https://receiver.invalid/in', rate: 5, headers: { Authorization: '***', 'X-Team': '***' } } })
    await waitForText(page.locator('.section', { hasText: 'Target' }), 'Authorization, X-Team')
    await page.getByRole('button', { name: 'Change' }).click()
    await dialog.getByRole('button', { name: 'Remove the header Authorization' }).click()
    await dialog.getByLabel('Timeout').fill('7s')
    await save()
    assert.deepEqual(await targetOf(), { webhook: { url: 'https://receiver.invalid/in', timeout_ms: 7000, rate: 5, headers: { 'X-Team': '***' } } })
    await page.getByRole('button', { name: 'Change' }).click()
    await dialog.getByLabel('Target').selectOption('pull')
    await save()
    assert.equal(await targetOf(), undefined)
  })
})

test('a queue with a webhook shows its target and that it fails', async () => {
  await daemon.call('PUT', path('hooks'), { target: { webhook: { url: 'https://receiver.invalid/in', rate: 20 } } })
  await daemon.put('hooks', { body: 'x' })
  await withPage(daemon, pageOf('hooks'), {}, async (page) => {
    await waitForText(page.locator('.section', { hasText: 'Target' }), 'https://receiver.invalid/in')
    await waitForText(page.locator('.section', { hasText: 'Target' }), '20 per second')
    await waitForText(page.locator('.section', { hasText: 'Target' }), /backing off|probing/)
  })
})

const putGroups = async (queue, counts) => {
  for (const [group, count] of Object.entries(counts)) for (let put = 0; put < count; put++) await daemon.put(queue, { body: 'x', group })
}
const groupPath = (queue, group) => `${path(queue)}/groups/${encodeURIComponent(group)}`
const groupsOf = (page) => page.locator('.section').filter({ has: page.locator('#group-search') })

test('limits of a queue and of its groups are set, shown and removed', async () => {
  await daemon.call('PUT', path('limits'), { lease: '1m' })
  await withPage(daemon, pageOf('limits'), {}, async (page) => {
    const dialog = page.getByRole('dialog')
    const settingsOf = async () => (await daemon.call('GET', path('limits'))).settings
    const save = async () => {
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.waitFor({ state: 'detached' })
    }
    assert.equal(await groupsOf(page).count(), 0)
    await page.getByRole('button', { name: 'Change' }).click()
    const groups = dialog.getByRole('group', { name: 'Limits of each group' })
    await dialog.getByLabel('Leased at once').first().fill('4')
    await dialog.getByLabel('Deliveries').first().fill('10')
    await dialog.getByLabel('In each').first().fill('1m')
    await groups.getByLabel('Leased at once').fill('1')
    await groups.getByLabel('Deliveries').fill('2')
    await groups.getByLabel('Burst').fill('2')
    await checkAccess(page)
    await save()
    const rate = { count: 10, per_ms: 60000 }
    assert.deepEqual(await settingsOf(), { paused: false, lease_ms: 60000, limits: { leased: 4 }, rate, groups: { leased: 1, rate: { count: 2, burst: 2 } } })
    const facts = page.locator('.section', { hasText: 'Settings' }).locator('.facts')
    await waitForText(facts, /Deliveries\s*10 in each 1 min/)
    await waitForText(facts, /Deliveries, each group\s*2 in each 1 sec, 2 at once after a pause/)
    await groupsOf(page).waitFor()
    await page.getByRole('button', { name: 'Change' }).click()
    await groups.getByLabel('Leased at once').fill('')
    await groups.getByLabel('Deliveries').fill('')
    await dialog.getByLabel('Leased at once').first().fill('')
    await save()
    assert.deepEqual(await settingsOf(), { paused: false, lease_ms: 60000, rate })
  })
})

// An operator gives each customer a fair share and a limit, and sees who is limited and why.
test('the groups of a queue show who is limited and why', async () => {
  await daemon.call('PUT', path('shared'), { groups: { leased: 1 }, lease: '1h' })
  await putGroups('shared', { acme: 4, 'bob/paris': 2, [STRANGE]: 1 })
  await daemon.call('POST', `${path('shared')}:lease`, { max: 10, wait: '20s' })
  await withPage(daemon, pageOf('shared'), {}, async (page) => {
    const rows = groupsOf(page).locator('tbody tr')
    await waitForText(rows.filter({ hasText: 'acme' }), /3.*1 of 1.*limited: 1 leased at once.*for/s)
    assert.deepEqual(await rows.locator('td:first-child').allInnerTexts(), ['acme', 'bob/paris', STRANGE])
    await page.getByLabel('Order', { exact: true }).selectOption('by name')
    await page.reload()
    await eventually('the order stays', async () => (await page.getByLabel('Order', { exact: true }).inputValue()) === 'name')
    await page.getByLabel('Find a group').fill('bob/paris')
    await rows.filter({ hasText: 'acme' }).waitFor({ state: 'detached' })
    await waitForText(rows, /bob\/paris.*1 of 1/s)
  })
  await checkLooks(daemon, pageOf('shared'), (page) => groupsOf(page).locator('tbody tr').first().waitFor())
})

test('a group gets limits of its own, backs off, and loses both', async () => {
  await daemon.call('PUT', path('customers'), { groups: { leased: 1, rate: { count: 5, per: '1m' } } })
  await withPage(daemon, pageOf('customers'), { expected: [/status of 400/] }, async (page) => {
    const row = groupsOf(page).locator('tbody tr')
    const dialog = page.getByRole('dialog', { name: `Group ${STRANGE}` })
    const open = async () => {
      await row.getByRole('button', { name: STRANGE }).click()
      await dialog.waitFor()
    }
    const groupOf = () => daemon.call('GET', groupPath('customers', STRANGE))
    // It needs no message: an operator prepares the limits of a customer.
    await page.getByLabel('Find a group').fill(STRANGE)
    await open()
    await checkAccess(page)
    assert.equal(await dialog.getByLabel('Leased at once').getAttribute('placeholder'), '1')
    assert.equal(await dialog.getByLabel('In each').getAttribute('placeholder'), '1m')
    await dialog.getByLabel('Weight').fill('0')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByLabel('Weight').fill('3')
    await dialog.getByLabel('Leased at once').fill('7')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.deepEqual((await groupOf()).settings, { leased: 7, weight: 3 })
    await waitForText(row, /weight 3.*0 of 7/s)
    await open()
    await dialog.getByLabel('Leased at once').fill('')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.deepEqual((await groupOf()).settings, { weight: 3 })
    await open()
    await dialog.getByLabel('For').fill('1h')
    await dialog.getByRole('button', { name: 'Back off' }).click()
    await dialog.waitFor({ state: 'detached' })
    await waitForText(row, /backs off until \d\d:\d\d:\d\d/)
    await open()
    await dialog.getByRole('button', { name: 'End the backoff' }).click()
    await row.filter({ hasText: 'backs off' }).waitFor({ state: 'detached' })
    await open()
    await dialog.getByRole('button', { name: 'Remove settings' }).click()
    const question = page.getByRole('dialog', { name: `Remove the settings of group ${STRANGE}?` })
    await question.getByRole('button', { name: 'Remove settings' }).click()
    await waitForText(question, 'The settings of the group were removed.')
    assert.deepEqual((await groupOf()).settings, {})
  })
})

test('how messages ended lately is counted', async () => {
  await daemon.put('ended', { body: 'x' })
  const { messages } = await daemon.call('POST', `${path('ended')}:lease`, { wait: '20s' })
  await daemon.call('POST', `/v1/leases/${messages[0].lease}:ack`)
  await daemon.put('ended', { body: 'x', delay: '1h' })
  await withPage(daemon, pageOf('ended'), {}, (page) => waitForText(page.locator('.section', { hasText: 'Ended in the last ten minutes' }), 'acknowledged'))
})

// Names such as "order-/timeout" were broken in two lines of a wide window, and columns without any value took room.
test('names and times stay on one line, and what has no value has no place', async () => {
  await withPage(daemon, '#/queues?search=ers', {}, async (page) => {
    await page.getByRole('link', { name: 'orders' }).waitFor()
    const broken = await page.locator('.table td .name:not(.long), .table td .badge.line, .table td.number').evaluateAll((all) => all.filter((one) => {
      const range = document.createRange()
      range.selectNodeContents(one)
      return new Set([...range.getClientRects()].map((place) => Math.round(place.top / 10))).size > 1
    }).map((one) => one.textContent))
    assert.deepEqual(broken, [])
    assert.deepEqual((await page.getByRole('columnheader').allInnerTexts()).filter((text) => /State|Overdue/.test(text)), [])
  })
  await withPage(daemon, '#/schedules', { width: 400, height: 800 }, async (page) => {
    await daemon.call('PUT', '/v1/schedules/nightly', { queue: 'orders', cron: '30 2 * * *', zone: 'Europe/Oslo', body: 'x' })
    await daemon.call('PUT', '/v1/schedules/daily', { queue: 'orders', cron: '30 4 * * *', zone: 'Europe/Oslo', body: 'x' })
    await daemon.call('POST', '/v1/schedules/nightly:pause')
    await page.reload()
    const row = page.getByRole('row').filter({ hasText: 'nightly' })
    await waitForText(row, 'paused')
    // A paused schedule has no next run.
    assert.equal(await row.locator('td[data-heading="Next run"]').isVisible(), false)
    assert.equal(await page.getByRole('row').filter({ hasText: 'daily' }).locator('td[data-heading="Next run"]').isVisible(), true)
  })
})

test('the list can be read by all, in both themes and in a narrow window', () =>
  checkLooks(daemon, '#/queues', (page) => page.locator('tbody tr').first().waitFor()))

test('the page of a queue can be read by all', () => checkLooks(daemon, pageOf(STRANGE), (page) => page.locator('.figures').waitFor()))

test('an open question can be read by all', () =>
  withPage(daemon, pageOf(STRANGE), {}, async (page) => {
    await page.getByRole('button', { name: 'Purge' }).click()
    await page.getByRole('dialog').waitFor()
    await checkAccess(page)
  }))

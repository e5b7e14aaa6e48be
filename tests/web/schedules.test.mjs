// Schedules: the list, one schedule with its next and past runs, the form with its preview, and the actions.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkLooks, eventually, useBrowser, useDaemon, waitForText, withPage } from './browser.mjs'

useBrowser()
const daemon = useDaemon()
const dialog = (page) => page.getByRole('dialog')
const put = (name, settings) => daemon.call('PUT', `/v1/schedules/${encodeURIComponent(name)}`, { queue: 'jobs', ...('json' in settings ? {} : { body: '' }), ...settings })

test('a server without schedules says what they are for', () =>
  checkLooks(daemon, '#/schedules', (page) => waitForText(page.locator('.empty'), /No schedules|没有定时任务/)))

test('the list has each rule in words, in both languages', async () => {
  await put('backup', { cron: '30 2 * * *', zone: 'Europe/Oslo', start: '2030-03-29T00:00:00+01:00', closed: '2030-04-02', body: 'back up' })
  await put('reports/weekly', { cron: '0 9 * * MON-FRI', zone: 'America/New_York', jitter: '5m', json: { kind: 'report' } })
  await put('month-end', { iso: 'R/2030-01-31T09:00:00/P1M', zone: 'Europe/Oslo' })
  await put('once', { at: '2035-01-01T06:00:00', zone: 'Asia/Shanghai' })
  await put('ticks', { every: '1h', queue: 'ticks' })
  await withPage(daemon, '#/schedules', {}, async (page) => {
    await waitForText(page.getByRole('row', { name: 'backup' }), 'At 02:30, every day')
    await waitForText(page.getByRole('row', { name: 'reports/weekly' }), 'At 09:00, Monday to Friday')
    await waitForText(page.getByRole('row', { name: 'month-end' }), 'Every month from 2030-01-31 09:00:00')
    await waitForText(page.getByRole('row', { name: 'once' }), 'Once, at 2035-01-01 06:00:00')
    await waitForText(page.getByRole('row', { name: 'ticks' }), 'Every hour')
    await page.getByLabel('Language').selectOption('zh')
    await waitForText(page.getByRole('row', { name: 'reports/weekly' }), '周一至周五 09:00')
  })
  await checkLooks(daemon, '#/schedules', (page) => page.getByRole('link', { name: 'backup' }).waitFor())
})

test('the search looks inside the names, beyond the first page', async () => {
  for (let first = 0; first < 120; first += 40) {
    await Promise.all(Array.from({ length: 40 }, (_, index) => put(`a-${String(first + index).padStart(3, '0')}-hourly`, { every: '1h' })))
  }
  await withPage(daemon, '#/schedules', {}, async (page) => {
    const rows = page.locator('tbody tr')
    await eventually('the first page is full', async () => (await rows.count()) === 100)
    await page.keyboard.press('/')
    await page.keyboard.type('weekly')
    await page.getByRole('link', { name: 'reports/weekly' }).waitFor()
    assert.equal(await rows.count(), 1)
    await page.getByRole('searchbox').fill('nothing-like-this')
    await page.getByRole('link', { name: 'Open nothing-like-this' }).waitFor()
    await page.getByRole('searchbox').fill('hourly')
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByRole('link', { name: 'a-119-hourly' }).waitFor()
  })
  for (let index = 0; index < 120; index++) await daemon.call('DELETE', `/v1/schedules/a-${String(index).padStart(3, '0')}-hourly`)
})

test('a schedule shows its next runs with the clock change and the closed day', async () => {
  await withPage(daemon, '#/schedules/backup', {}, async (page) => {
    await waitForText(page.locator('.about'), 'At 02:30, every day · Europe/Oslo')
    const row = (date) => page.getByRole('table', { name: 'Next runs' }).locator('tbody tr').filter({ hasText: date })
    await waitForText(row('2030-03-30'), '02:30 +01:00')
    await waitForText(row('2030-03-31'), '03:00 +02:00')
    await waitForText(row('2030-03-31'), 'Clocks go forward')
    await waitForText(row('2030-04-02'), 'Closed day')
    await waitForText(page.getByRole('table', { name: 'Later, around clock changes' }), /2030-10-27 02:30 \+02:00/)
    await page.getByRole('button', { name: 'Show more' }).click()
    await waitForText(row('2030-05-10'), '02:30')
  })
  await checkLooks(daemon, '#/schedules/backup', (page) => page.locator('.table tbody tr').nth(9).waitFor())
})

test('it is paused, resumed and fired, and shows the run', () =>
  withPage(daemon, '#/schedules/ticks', {}, async (page) => {
    await page.getByRole('button', { name: 'Pause' }).click()
    await waitForText(page.locator('.notice'), 'Paused ticks: it creates no runs.')
    await waitForText(page.locator('.page-line .badge'), 'paused')
    assert.equal((await daemon.call('GET', '/v1/schedules/ticks')).paused, true)
    await page.getByRole('button', { name: 'Resume' }).click()
    await waitForText(page.locator('.page-line .badge'), 'active')
    await page.getByRole('button', { name: 'Fire now' }).click()
    await waitForText(dialog(page), 'One message is created in the queue ticks.')
    await dialog(page).getByRole('button', { name: 'Fire now' }).click()
    await waitForText(dialog(page), 'A run was created: message')
    await dialog(page).getByRole('button', { name: 'Close' }).click()
    await waitForText(page.locator('.facts').first(), /Last run.*Ready/s)
    assert.equal((await daemon.call('GET', '/v1/schedules/ticks')).runs.manual, 1)
  }))

test('a new schedule has a preview that follows each change, and errors beside their fields', () =>
  withPage(daemon, '#/schedule-new', { expected: [/status of 400/, /status of 404.*\/v1\/schedules\/nightly/] }, async (page) => {
    await waitForText(page.locator('.empty'), 'The preview appears when queue and rule are given.')
    await page.getByLabel('Name').fill('nightly')
    await page.getByLabel('Queue').fill('jobs')
    await page.getByLabel('Cron expression').fill('30 2 * * *')
    await waitForText(page.locator('.rule-words'), 'At 02:30, every day')
    await page.getByLabel('Time zone').fill('Europe/Oslo')
    await page.getByText('Bounds, missed times, overlap').click()
    await page.getByLabel('Not before').fill('2030-10-26T00:00:00+02:00')
    const preview = page.getByRole('table', { name: 'Next runs' })
    await waitForText(preview, /2030-10-27 02:30 \+02:00.*Clocks go back.*the first time/s)
    await page.getByLabel('When clocks go back').selectOption('both')
    await waitForText(preview, /2030-10-27 02:30 \+01:00.*Clocks go back.*the second time/s)
    await page.getByLabel('Cron expression').fill('0 24 * * *')
    await waitForText(page.locator('.note.bad'), 'there is no hour 24')
    await page.getByRole('button', { name: 'Create schedule' }).click()
    await waitForText(page.locator('.field-error'), 'there is no hour 24')
    await page.getByLabel('Cron expression').fill('30 2 * * *')
    await page.getByLabel('Content', { exact: true }).fill('back up')
    await page.getByRole('button', { name: 'Create schedule' }).click()
    await waitForText(page.locator('main h1'), 'Schedule nightly')
    const { settings } = await daemon.call('GET', '/v1/schedules/nightly')
    assert.equal(settings.dst_repeat, 'both')
    assert.equal(settings.body, 'back up')
  }))

test('a name that is taken is not replaced', () =>
  withPage(daemon, '#/schedule-new', {}, async (page) => {
    await page.getByLabel('Name').fill('backup')
    await page.getByLabel('Queue').fill('other')
    await page.getByRole('button', { name: 'Create schedule' }).click()
    await waitForText(page.locator('.notice'), 'A schedule with this name exists.')
    assert.equal((await daemon.call('GET', '/v1/schedules/backup')).settings.queue, 'jobs')
  }))

test('an edit changes what was edited and keeps the content', async () => {
  await withPage(daemon, '#/schedules/reports%2Fweekly', {}, async (page) => {
    await page.getByRole('link', { name: 'Edit' }).click()
    await waitForText(page.locator('main h1'), 'Edit the schedule reports/weekly')
    await page.getByLabel('Jitter').fill('')
    await page.getByText('Interval', { exact: true }).click()
    await page.getByLabel('Interval', { exact: true }).last().fill('90m')
    await waitForText(page.locator('.rule-words'), 'Every 1 hour 30 minutes')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await waitForText(page.locator('main h1'), 'Schedule reports/weekly')
  })
  const { settings } = await daemon.call('GET', '/v1/schedules/reports%2Fweekly')
  assert.deepEqual([settings.every_ms, settings.cron, settings.jitter_ms, settings.json], [5_400_000, undefined, undefined, { kind: 'report' }])
  await checkLooks(daemon, '#/schedules/reports%2Fweekly/edit', (page) => page.locator('.table tbody tr').first().waitFor())
})

test('it is deleted after a question', () =>
  withPage(daemon, '#/schedules/once', {}, async (page) => {
    await page.getByRole('button', { name: 'Delete' }).click()
    await waitForText(dialog(page), 'One schedule is deleted and creates no more runs.')
    await dialog(page).getByRole('button', { name: 'Delete' }).click()
    await waitForText(page.locator('.notice'), 'The schedule was deleted.')
    await dialog(page).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'backup' }).waitFor()
    await eventually('it is gone from the list', async () => (await page.getByRole('link', { name: 'once' }).count()) === 0)
  }))

test('skipped times have a reason', async () => {
  await put('slow', { every: '10ms', queue: 'slow', overlap: 'skip' })
  await eventually('runs are skipped', async () => (await daemon.call('GET', '/v1/schedules/slow')).runs.skipped > 0)
  await withPage(daemon, '#/schedules/slow', {}, async (page) => {
    await waitForText(page.locator('.facts').first(), 'the previous run had not ended')
  })
  await daemon.call('DELETE', '/v1/schedules/slow')
})

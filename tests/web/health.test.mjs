// The health of the server: clock, disk and store, limits, warnings of the log.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkAccess, checkLooks, useBrowser, useDaemon, waitForText, withPage } from './browser.mjs'

useBrowser()
const daemon = useDaemon()

test('the page in both themes and languages, and in a narrow window', () =>
  checkLooks(daemon, '#/health', (page) => waitForText(page.locator('.facts').nth(1), /GiB|MiB|TiB/)))

test('a server that is well says so', async () => {
  await daemon.put('mail', { body: 'x', delay: '1h' })
  await withPage(daemon, '#/health', {}, async (page) => {
    await waitForText(page.locator('.note'), 'The server is ready.')
    await waitForText(page.locator('.section').filter({ hasText: 'Clock' }).first(), 'Server time follows the wall clock')
    await waitForText(page.locator('.section').filter({ hasText: 'Disk and store' }).first(), 'accepted')
    await waitForText(page.getByRole('row', { name: 'limits.queues_max' }), '1 / 100,000')
  })
})

// A clock that is far ahead at a restart is not trusted; a test replaces only what the server would say about it.
test('a wall clock that is held is accepted after a question that says what becomes due', () =>
  withPage(daemon, '#/', {}, async (page) => {
    const clock = await daemon.call('GET', '/v1/clock')
    let state = 'held'
    let accepted = 0
    await page.route('**/v1/clock', (route) =>
      route.fulfill({ json: { ...clock, state, wall_clock_ahead_ms: 30 * 86_400_000, wall_clock_ms: clock.server_time_ms + 30 * 86_400_000 } }))
    await page.route('**/v1/clock:accept', (route) => {
      accepted += 1
      state = 'steady'
      return route.fulfill({ json: { ...clock, state } })
    })
    await page.goto(`${daemon.url}/#/health`)
    await waitForText(page.locator('.section').first(), 'The wall clock was set far ahead')
    await page.getByRole('button', { name: 'Accept the wall clock' }).click()
    const dialog = page.getByRole('dialog')
    await waitForText(dialog, 'Server time jumps ahead by 30 days')
    await waitForText(dialog, 'At least 1 message of this namespace becomes due at once.')
    await dialog.getByRole('button', { name: 'Accept the wall clock' }).click()
    await waitForText(dialog, 'The wall clock was accepted.')
    assert.equal(accepted, 1)
    await dialog.getByRole('button', { name: 'Close' }).click()
    await waitForText(page.locator('.section').first(), 'steady')
  }))

test('a server that is not ready says why', () =>
  withPage(daemon, '#/', { expected: [/status of 503/] }, async (page) => {
    await page.route('**/readyz', (route) => route.fulfill({ status: 503, json: { ready: false, reason: 'the disk is full: puts are refused' } }))
    await page.goto(`${daemon.url}/#/health`)
    await waitForText(page.locator('.note.bad'), 'The server is not ready. the disk is full: puts are refused')
  }))

test('the name of a log event leads to its entry in the documentation, if the server has it', async () => {
  const html = join(daemon.directory, 'html')
  const event = (page) => page.getByRole('row', { name: 'last_run_not_stopped' })
  daemon.argumentList = [`--http-docs=${html}`]
  await daemon.stop('SIGKILL')
  await daemon.start()
  await withPage(daemon, '#/health', {}, async (page) => {
    const asked = page.waitForResponse('**/docs/')
    await page.reload()
    await (await asked).finished()
    await waitForText(event(page), 'was killed')
    assert.equal(await event(page).getByRole('link').count(), 0)
  })

  mkdirSync(html)
  writeFileSync(join(html, 'errors.html'), 'errors')
  writeFileSync(join(html, 'index.html'), '<a href="log_events.html">Log events</a>')
  writeFileSync(join(html, 'log_events.html'), '<table><tr><td id="last_run_not_stopped">last_run_not_stopped</td></tr></table>')
  await daemon.stop('SIGKILL')
  await daemon.start()
  await withPage(daemon, '#/health', {}, async (page) => {
    const opened = page.waitForEvent('popup')
    await event(page).getByRole('link', { name: 'last_run_not_stopped' }).click()
    await (await opened).locator('td:target').waitFor()
    await checkAccess(page)
  })
})

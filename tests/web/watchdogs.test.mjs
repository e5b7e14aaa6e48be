// Watchdogs: state, feed, create, edit and delete.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkLooks, eventually, useBrowser, useDaemon, waitForText, withPage } from './browser.mjs'

useBrowser()
const daemon = useDaemon()
const dialog = (page) => page.getByRole('dialog')

test('a server without watchdogs says what they are for', () =>
  checkLooks(daemon, '#/watchdogs', (page) => waitForText(page.locator('.empty'), /No watchdogs|没有看门狗/)))

test('one is created, and shows when it fires', () =>
  withPage(daemon, '#/watchdog-new', { expected: [/status of (400|404)/] }, async (page) => {
    await page.getByLabel('Name').fill('backup')
    await page.getByLabel('Queue').fill('alarms')
    await page.getByLabel('Timeout').fill('soon')
    await page.getByRole('button', { name: 'Create watchdog' }).click()
    await page.locator('.field-error').waitFor()
    await page.getByLabel('Timeout').fill('25h')
    await page.getByLabel('Content', { exact: true }).fill('no backup for a day')
    await page.getByRole('button', { name: 'Create watchdog' }).click()
    await waitForText(page.locator('main h1'), 'Watchdog backup')
    await waitForText(page.locator('.page-line'), /armed\s*Fires: .*tomorrow/)
    await waitForText(page.locator('.body-view'), 'no backup for a day')
  }))

test('the list and one watchdog in both themes and languages, and in a narrow window', async () => {
  await daemon.call('PUT', '/v1/watchdogs/sensor%2F7', { queue: 'alarms', timeout: '20ms', body: 'silent' })
  await eventually('it has fired', async () => (await daemon.call('GET', '/v1/watchdogs/sensor%2F7')).fired === 1)
  await checkLooks(daemon, '#/watchdogs', (page) => waitForText(page.getByRole('row', { name: 'sensor/7' }), /asleep|休眠/))
  await checkLooks(daemon, '#/watchdogs/sensor%2F7', (page) => waitForText(page.locator('.page-line'), /It has fired and sleeps|已触发/))
})

test('a feed says when it will fire, and whether it came too late', () =>
  withPage(daemon, '#/watchdogs', {}, async (page) => {
    await page.getByRole('row', { name: 'backup' }).getByRole('button', { name: 'Feed' }).click()
    await waitForText(page.locator('.notice'), 'backup was fed. Without another feed it fires at')
    assert.equal((await daemon.call('GET', '/v1/watchdogs/backup')).feeds, 2)
    await daemon.call('PATCH', '/v1/watchdogs/sensor%2F7', { timeout: '1h' })
    await page.getByRole('row', { name: 'sensor/7' }).getByRole('button', { name: 'Feed' }).click()
    await waitForText(page.locator('.notice'), 'sensor/7 was fed too late')
    await waitForText(page.getByRole('row', { name: 'sensor/7' }), 'armed')
  }))

test('an edit changes what was edited and keeps the content', async () => {
  await withPage(daemon, '#/watchdogs/backup/edit', {}, async (page) => {
    await page.getByLabel('Fires again every').fill('1h')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await waitForText(page.locator('main h1'), 'Watchdog backup')
  })
  const { settings, feeds } = await daemon.call('GET', '/v1/watchdogs/backup')
  assert.deepEqual([settings.repeat_every_ms, settings.timeout_ms, settings.body, feeds], [3_600_000, 90_000_000, 'no backup for a day', 2])
})

test('it is deleted after a question', () =>
  withPage(daemon, '#/watchdogs/backup', {}, async (page) => {
    await page.getByRole('button', { name: 'Delete' }).click()
    await waitForText(dialog(page), 'One watchdog is deleted and never fires.')
    await dialog(page).getByRole('button', { name: 'Delete' }).click()
    await waitForText(page.locator('.notice'), 'The watchdog was deleted.')
    await dialog(page).waitFor({ state: 'detached' })
    await eventually('it is gone from the list', async () => (await page.getByRole('link', { name: 'backup' }).count()) === 0)
  }))

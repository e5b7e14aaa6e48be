// Namespaces: quotas and how much of them is in use.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkLooks, useBrowser, useDaemon, waitForText, withPage } from './browser.mjs'

useBrowser()
const daemon = useDaemon()
const dialog = (page) => page.getByRole('dialog')

test('a server without namespaces says so', () =>
  checkLooks(daemon, '#/namespaces', (page) => waitForText(page.locator('.empty'), /No namespaces|没有命名空间/)))

test('quotas are set for a new namespace, and errors are beside their fields', () =>
  withPage(daemon, '#/namespace-new', { expected: [/status of 400/] }, async (page) => {
    await page.getByLabel('Name').fill('team')
    await page.getByLabel('Unfinished messages').fill('ten')
    await page.getByRole('button', { name: 'Create namespace' }).click()
    await waitForText(page.locator('.notice'), 'Unfinished messages: a whole number is needed.')
    await page.getByLabel('Unfinished messages').fill('0')
    await page.getByRole('button', { name: 'Create namespace' }).click()
    await page.locator('.field-error').waitFor()
    await page.getByLabel('Unfinished messages').fill('10')
    await page.getByLabel('Puts per second').fill('500')
    await page.getByRole('button', { name: 'Create namespace' }).click()
    await waitForText(page.locator('main h1'), 'Namespace team')
    assert.deepEqual((await daemon.call('GET', '/v1/namespaces/team')).settings, { limits: { pending: 10, put_rate: 500 } })
  }))

test('the use of the quotas in both themes and languages, and in a narrow window', async () => {
  for (let number = 0; number < 9; ++number) await daemon.call('POST', '/v1/namespaces/team/queues/mail/messages', { body: 'x', delay: '1h' })
  await checkLooks(daemon, '#/namespaces', (page) => waitForText(page.getByRole('row', { name: 'team' }), '9 / 10'))
  await checkLooks(daemon, '#/namespaces/team', (page) => waitForText(page.locator('.facts'), '9 / 10'))
})

test('a quota is changed, another is removed, and then all', () =>
  withPage(daemon, '#/namespaces/team', {}, async (page) => {
    await page.getByLabel('Puts per second').fill('')
    await page.getByLabel('Weight').fill('3')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await waitForText(page.locator('.notice'), 'The quotas of team were saved.')
    assert.deepEqual((await daemon.call('GET', '/v1/namespaces/team')).settings, { limits: { pending: 10 }, weight: 3 })
    await page.getByRole('button', { name: 'Remove quotas' }).click()
    await waitForText(dialog(page), 'All quotas of this namespace are removed.')
    await dialog(page).getByRole('button', { name: 'Remove quotas' }).click()
    await waitForText(dialog(page), 'The quotas were removed.')
    assert.deepEqual((await daemon.call('GET', '/v1/namespaces/team')).settings, {})
  }))

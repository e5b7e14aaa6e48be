// A server that requires tokens: signing in and out, what a token that may only read is shown, and a token that ends while
// the page is open.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { checkAccess, checkLooks, checkWidth, eventually, useBrowser, waitForText, withPage } from './browser.mjs'
import { Daemon } from './daemon.mjs'

useBrowser()
const daemon = new Daemon(['--auth-required'])
const tokens = {}
// Requests of a page without a valid token.
const expected = [/status of 401/]

before(async () => {
  // The first token is made by the owner of the data, before the server runs.
  mkdirSync(join(daemon.directory, 'data'))
  const words = ['token', 'add', 'admin', '--data', join(daemon.directory, 'data'), '--admin']
  tokens.admin = execFileSync(join(process.env.DUEWHEEL_BIN, 'duewheel'), words, { encoding: 'utf8' }).trim().split(/\s+/).at(-1)
  await daemon.start()
  daemon.token = tokens.admin
  const create = async (id, members) => (await daemon.call('PUT', `/v1/tokens/${id}`, members)).token
  tokens.operator = await create('operator', { scopes: ['admin', 'read', 'put', 'cancel'] })
  tokens.reader = await create('reader', { scopes: ['read'], description: 'the screen in the hall', queues: 'mail' })
  tokens.team = await create('team', { scopes: ['read'], namespaces: ['team'] })
  tokens.sender = await create('sender', { scopes: ['put'] })
  await daemon.put('mail', { body: 'x', delay: '1h' })
  await daemon.call('POST', '/v1/namespaces/team/queues/post/messages', { body: 'x' })
})
after(() => daemon.remove())

async function signIn(page, token) {
  await page.getByLabel('Access token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

test('without a token there is only the login page, and a wrong token is explained', () =>
  withPage(daemon, '#/queues', { expected }, async (page) => {
    await waitForText(page.locator('main h1'), 'Sign in')
    assert.equal(await page.getByRole('navigation').count(), 0)
    await signIn(page, 'dw_operator_wrong')
    await waitForText(page.getByRole('alert'), /token/)
    await signIn(page, tokens.operator)
    await waitForText(page.locator('main h1'), 'Queues')
    await page.getByRole('link', { name: 'mail', exact: true }).waitFor()
  }))

test('the cookie is kept from scripts, and signing out ends it', () =>
  withPage(daemon, '', { expected }, async (page) => {
    await signIn(page, tokens.operator)
    await waitForText(page.locator('main h1'), 'Overview')
    assert.equal(await page.evaluate(() => document.cookie), '')
    assert.equal(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }).includes('dw_')), false)
    await page.reload()
    await waitForText(page.locator('main h1'), 'Overview')
    await page.getByRole('banner').getByRole('link', { name: 'operator' }).click()
    await waitForText(page.locator('.facts').first(), 'operator')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await waitForText(page.locator('main h1'), 'Sign in')
    await page.reload()
    await waitForText(page.locator('main h1'), 'Sign in')
  }))

test('a token that may only read sees no buttons', async () => {
  const { id } = await daemon.put('mail', { body: 'x', delay: '2h' })
  await withPage(daemon, '#/access', { expected }, async (page) => {
    await signIn(page, tokens.reader)
    await waitForText(page.locator('main'), 'the screen in the hall')
    await waitForText(page.locator('main'), 'names that begin with mail')
    await page.getByRole('link', { name: 'Overview' }).click()
    await waitForText(page.locator('main'), 'for some queues or namespaces only')
    const go = (hash) => page.evaluate((to) => (window.location.hash = to), hash)
    await go('#/queues/mail')
    await page.locator('.figures').waitFor()
    assert.deepEqual(await page.locator('main button').allInnerTexts(), [])
    await go(`#/messages/${id}`)
    await page.locator('.body-view').first().waitFor()
    assert.deepEqual(await page.locator('.page-actions button').allInnerTexts(), [])
  })
})

test('a token for some queues sees why one of them is late, and is offered no page of the whole server', async () => {
  await daemon.put('mail', { body: 'x', delay: '10m' })
  await daemon.put('mail-late', { body: 'x', due: new Date(Date.now() - 3_600_000).toISOString() })
  await withPage(daemon, '#/queues/mail-late', { expected }, async (page) => {
    await signIn(page, tokens.reader)
    await waitForText(page.locator('.about'), /late.*No consumer leases from it/)
    const entries = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allInnerTexts()
    assert.equal(entries.some((entry) => /Health|Namespaces/.test(entry)), false, entries.join())
    await page.getByRole('link', { name: 'Timeline', exact: true }).first().click()
    await page.evaluate(() => (window.location.hash = '#/timeline'))
    await page.getByText('Choose one of them.').waitFor()
    await page.getByLabel('Queue', { exact: true }).fill('mail')
    await page.keyboard.press('Enter')
    // The one that is due in an hour may be in the last minute of the hour ahead, or not.
    await waitForText(page.locator('.figure').nth(1), /[12]$/)
    await page.evaluate(() => (window.location.hash = '#/wheel?show=server'))
    await page.locator('.dot').first().waitFor()
    assert.equal(await page.getByRole('tab', { name: 'This server' }).count(), 0)
  })
})

test('a token for one namespace begins there', () =>
  withPage(daemon, '#/queues', { expected }, async (page) => {
    await signIn(page, tokens.team)
    await page.getByRole('link', { name: 'post', exact: true }).waitFor()
    await waitForText(page.locator('.namespace'), 'team')
    await page.getByRole('link', { name: 'Timeline', exact: true }).click()
    await waitForText(page.locator('.figure').first(), /Due now\s*1/)
  }))

test('a token without the scope read sees what it lacks', () =>
  withPage(daemon, '', { expected }, async (page) => {
    await signIn(page, tokens.sender)
    await page.getByText('it lacks the scope read').waitFor()
  }))

test('an operator sees the buttons', () =>
  withPage(daemon, '#/queues/mail', { expected }, async (page) => {
    await signIn(page, tokens.operator)
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('button', { name: 'Pause' }).waitFor()
  }))

test('a token that is removed while the page is open leads to the login page, and back', async () => {
  const brief = (await daemon.call('PUT', '/v1/tokens/brief', { scopes: ['read'] })).token
  await withPage(daemon, '#/queues', { expected }, async (page) => {
    await signIn(page, brief)
    await page.getByRole('link', { name: 'mail', exact: true }).waitFor()
    await daemon.call('DELETE', '/v1/tokens/brief')
    await waitForText(page.locator('main h1'), 'Sign in')
    await waitForText(page.locator('main'), 'The token is not valid any more')
    await signIn(page, tokens.operator)
    await waitForText(page.locator('main h1'), 'Queues')
    await page.getByRole('link', { name: 'mail', exact: true }).waitFor()
    await eventually('the page is live', async () => (await page.locator('.live').innerText()) !== 'Offline')
  })
})

test('the login page can be read by all, in both themes and in a narrow window', () =>
  checkLooks(daemon, '', (page) => waitForText(page.locator('main h1'), /Sign in|登录/), { expected }))

test('the page of the token can be read by all', () =>
  withPage(daemon, '#/access', { expected, width: 400 }, async (page) => {
    await signIn(page, tokens.operator)
    await page.locator('.facts').first().waitFor()
    await checkAccess(page)
    await checkWidth(page)
  }))

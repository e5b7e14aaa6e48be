// What surrounds every page: navigation, keys, language, theme, a lost connection and a restarted server.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkAccess, checkLooks, eventually, useBrowser, useDaemon, waitForText, withPage } from './browser.mjs'

useBrowser()
const daemon = useDaemon()

test('an empty server has an overview', () => checkLooks(daemon, '', (page) => page.locator('main h1').waitFor()))

test('the address of no page says so and leads back', () =>
  withPage(daemon, '#/nothing/here', {}, async (page) => {
    await waitForText(page.locator('main h1'), 'There is no such page')
    await page.getByRole('link', { name: 'Go to the overview' }).click()
    await waitForText(page.locator('main h1'), 'Overview')
  }))

test('the skip link comes first and leads to the content', () =>
  withPage(daemon, '', {}, async (page) => {
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate(() => document.activeElement.className), 'skip')
    await page.keyboard.press('Enter')
    assert.equal(await page.evaluate(() => document.activeElement.id), 'main')
  }))

test('the language is chosen in the header and stays', () =>
  withPage(daemon, '', {}, async (page) => {
    await page.getByLabel('Language').selectOption('zh')
    await waitForText(page.locator('main h1'), '总览')
    assert.equal(await page.evaluate(() => document.documentElement.lang), 'zh-CN')
    await page.reload()
    await waitForText(page.locator('main h1'), '总览')
  }))

test('the first language is that of the browser', () =>
  withPage(daemon, '', { language: 'zh-CN' }, (page) => waitForText(page.locator('main h1'), '总览')))

test('the theme follows the system until it is switched', () =>
  withPage(daemon, '', { theme: 'dark' }, async (page) => {
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const dark = await paper()
    await page.getByRole('button', { name: 'Colours: as the system' }).click()
    assert.notEqual(await paper(), dark)
    await page.reload()
    await page.getByRole('button', { name: 'Colours: light' }).click()
    assert.equal(await paper(), dark)
  }))

test('the question mark lists the keys, and Escape closes the list', () =>
  withPage(daemon, '', {}, async (page) => {
    await page.keyboard.press('?')
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  }))

test('g and a letter go to another page, but not while typing', () =>
  withPage(daemon, '', {}, async (page) => {
    await page.keyboard.press('g')
    await page.keyboard.press('q')
    await waitForText(page.locator('main h1'), 'Queues')
    await page.keyboard.press('/')
    await page.keyboard.type('gm')
    assert.equal(await page.getByRole('searchbox').inputValue(), 'gm')
    await waitForText(page.locator('main h1'), 'Queues')
  }))

test('a narrow window has the pages behind a button', () =>
  withPage(daemon, '', { width: 400, height: 800 }, async (page) => {
    const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Queues' })
    assert.equal(await link.isVisible(), false)
    await page.getByRole('button', { name: 'Menu' }).click()
    await checkAccess(page)
    await link.click()
    await waitForText(page.locator('main h1'), 'Queues')
    assert.equal(await link.isVisible(), false)
  }))

test('a refusal by a busy server does not replace the page, and what is typed stays', async () => {
  await daemon.put('mail', { body: 'x', delay: '1h' })
  await withPage(daemon, '#/queues/mail', { expected: [/status of 503/] }, async (page) => {
    await page.getByLabel('Content').fill('typed')
    let refusals = 0
    await page.route('**/v1/queues/mail', (route) => {
      refusals += 1
      return route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"title": "Busy", "status": 503, "code": "overloaded", "detail": "try again"}' })
    })
    await eventually('a refusal', () => refusals === 1)
    assert.equal(await page.getByLabel('Content').inputValue(), 'typed')
    // A server that goes on refusing is not shown as if it worked.
    await waitForText(page.getByRole('alert'), 'overloaded')
    await page.unroute('**/v1/queues/mail')
    await page.getByLabel('Content').waitFor()
  })
})

test('a lost connection is shown, and the page goes on with a restarted server', () =>
  withPage(daemon, '', { expected: [/ERR_CONNECTION_REFUSED/, /ERR_CONNECTION_RESET/, /ERR_EMPTY_RESPONSE/, /ERR_INCOMPLETE_CHUNKED/, /ERR_SOCKET_NOT_CONNECTED/] }, async (page) => {
    await daemon.stop('SIGKILL')
    const banner = page.getByRole('alert').filter({ hasText: 'The connection to the server is lost' })
    await banner.waitFor()
    await daemon.start()
    await banner.waitFor({ state: 'detached' })
    await eventually('the page is live again', async () => !(await page.locator('.live').innerText()).includes('Offline'))
  }))

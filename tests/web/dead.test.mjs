// Dead letters: which queues have some, why they died, and the actions.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkLooks, eventually, useBrowser, useDaemon, waitForText, withPage } from './browser.mjs'

useBrowser()
const daemon = useDaemon()
const dialog = (page) => page.getByRole('dialog')

test('a server without dead letters says so', () =>
  checkLooks(daemon, '#/dead', (page) => waitForText(page.locator('.empty'), /No dead letters|没有死信/)))

test('queues and dead letters in both themes and languages, and in a narrow window', async () => {
  for (let number = 0; number < 3; ++number) await daemon.putDead('mail', `letter ${number}`, 'connection refused: smtp.example.org:25')
  await daemon.putDead('größe/a', 'x', `<img src=x onerror="alert(1)"> \u202e${'long '.repeat(150)}`)
  await checkLooks(daemon, '#/dead', (page) => page.getByRole('link', { name: 'mail' }).waitFor())
  await checkLooks(daemon, '#/dead?queue=gr%C3%B6%C3%9Fe%2Fa', (page) => waitForText(page.locator('.table'), '<img src=x onerror'))
})

test('the queues are found by name', () =>
  withPage(daemon, '#/dead', {}, async (page) => {
    await waitForText(page.locator('.figure-value').first(), '4')
    await page.keyboard.press('/')
    await page.keyboard.type('größe')
    await page.getByRole('link', { name: 'mail' }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'größe/a' }).click()
    await waitForText(page.locator('main h1'), 'Dead letters of größe/a')
    await waitForText(page.locator('.table'), 'U+202E')
    await page.getByRole('button', { name: /^Show all/ }).click()
    await waitForText(page.locator('.table'), /(long ){150}/)
  }))

test('one dead letter is redriven at once, and one discarded after a question', () =>
  withPage(daemon, '#/dead?queue=mail', {}, async (page) => {
    const rows = page.locator('.table tbody tr')
    await rows.nth(2).waitFor()
    await waitForText(rows.first(), 'connection refused: smtp.example.org:25')
    await rows.first().getByRole('button', { name: 'Redrive' }).click()
    await waitForText(page.locator('.notice'), 'returned to its queue')
    await eventually('two remain', async () => (await rows.count()) === 2)
    await rows.first().getByRole('button', { name: 'Discard' }).click()
    await waitForText(dialog(page), 'One dead letter')
    await dialog(page).getByRole('button', { name: 'Cancel' }).click()
    assert.equal((await daemon.call('GET', '/v1/queues/mail')).dead, 2)
    await rows.first().getByRole('button', { name: 'Discard' }).click()
    await dialog(page).getByRole('button', { name: 'Discard' }).click()
    await waitForText(dialog(page), 'was discarded')
    assert.equal((await daemon.call('GET', '/v1/queues/mail')).dead, 1)
  }))

test('all dead letters of a queue are redriven, with their number in the question and the answer', () =>
  withPage(daemon, '#/dead?queue=mail', {}, async (page) => {
    await page.locator('.page-actions').getByRole('button', { name: 'Redrive all' }).click()
    await waitForText(dialog(page), '1 dead letter returns to the queue')
    await dialog(page).getByRole('button', { name: 'Redrive all' }).click()
    await waitForText(dialog(page), '1 dead letter returned to the queue.')
    await dialog(page).getByRole('button', { name: 'Close' }).click()
    await waitForText(page.locator('.empty'), 'This queue has no dead letters.')
    assert.equal((await daemon.call('GET', '/v1/queues/mail')).pending, 2)
  }))

test('all are discarded, or only the old ones', () =>
  withPage(daemon, '#/dead?queue=gr%C3%B6%C3%9Fe%2Fa', {}, async (page) => {
    await page.getByRole('button', { name: 'Discard old ones' }).click()
    await waitForText(dialog(page), 'those that died before')
    await dialog(page).getByRole('button', { name: 'Discard old ones' }).click()
    await waitForText(dialog(page), 'The server discards them now')
    await dialog(page).getByRole('button', { name: 'Close' }).click()
    assert.equal((await daemon.call('GET', '/v1/queues/gr%C3%B6%C3%9Fe%2Fa')).dead, 1)
    await page.getByRole('button', { name: 'Discard all' }).click()
    await waitForText(dialog(page), '1 dead letter of this queue ends for good')
    await dialog(page).getByRole('button', { name: 'Discard all' }).click()
    await waitForText(dialog(page), 'The server discards them now')
    await eventually('none is left', async () => (await daemon.call('GET', '/v1/queues/gr%C3%B6%C3%9Fe%2Fa')).dead === 0)
  }))

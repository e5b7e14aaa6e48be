// What a token without the scope for an action sees: the data, and no buttons that would be refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useBrowser, useDaemon, withPage } from './browser.mjs'

useBrowser()
const daemon = useDaemon()

const ACTIONS = /^(Redrive|Discard|Pause|Resume|Fire|Edit|Delete|Feed|New|Save|Create|Remove|Accept)/
const PAGES = [
  ['#/dead', 'mail'], ['#/dead?queue=mail', '1 dead letter'], ['#/schedules', 'ticks'], ['#/schedules/ticks', 'Next runs'],
  ['#/watchdogs', 'backup'], ['#/watchdogs/backup', 'armed'], ['#/namespaces', 'team'], ['#/namespaces/team', '0 / 10'], ['#/health', 'steady'],
]

function withScopes(scopes, path, run) {
  return withPage(daemon, '#/wheel', {}, async (page) => {
    await page.route('**/v1/session', (route) => route.fulfill({ json: { tokens_required: true, token: { id: 'ann', scopes } } }))
    await page.goto(`${daemon.url}/`)
    await page.goto(`${daemon.url}/${path}`)
    await run(page)
  })
}

async function actions(page) {
  const names = await page.locator('main').locator('button, a.button').allInnerTexts()
  return names.filter((name) => ACTIONS.test(name))
}

test('a token that only reads sees everything and no actions', async () => {
  await daemon.putDead('mail')
  await daemon.call('PUT', '/v1/schedules/ticks', { queue: 'ticks', body: '', every: '1h' })
  await daemon.call('PUT', '/v1/watchdogs/backup', { queue: 'alarms', body: '', timeout: '1h' })
  await daemon.call('PUT', '/v1/namespaces/team', { limits: { pending: 10 } })
  for (const [path, shown] of PAGES) {
    await withScopes(['read'], path, async (page) => {
      await page.getByText(shown).first().waitFor()
      assert.deepEqual(await actions(page), [], path)
    })
  }
})

test('each scope brings the actions that it allows', async () => {
  await withScopes(['read', 'cancel'], '#/dead?queue=mail', async (page) => {
    await page.locator('tbody tr').first().waitFor()
    assert.deepEqual(await actions(page), ['Redrive', 'Discard'])
  })
  await withScopes(['read', 'admin'], '#/dead?queue=mail', async (page) => {
    await page.locator('tbody tr').first().waitFor()
    assert.deepEqual(await actions(page), ['Redrive all', 'Discard old ones', 'Discard all'])
  })
  await withScopes(['read', 'schedule'], '#/schedules/ticks', async (page) => {
    await page.locator('tbody tr').first().waitFor()
    assert.deepEqual(await actions(page), ['Pause', 'Fire now', 'Edit', 'Delete'])
  })
})

test('a group is changed by who may change queues, and backs off for consumers', async () => {
  await daemon.call('PUT', '/v1/queues/shared/groups/acme', { leased: 1 })
  const offered = async (scopes) => {
    let names
    await withScopes(scopes, '#/queues/shared', async (page) => {
      const acme = page.locator('tbody').getByText('acme')
      await acme.waitFor()
      await acme.click()
      const dialog = page.getByRole('dialog')
      if (scopes.length > 1) await dialog.waitFor()
      names = await dialog.getByRole('button').allInnerTexts()
    })
    return names
  }
  assert.deepEqual(await offered(['read']), [])
  assert.deepEqual(await offered(['read', 'consume']), ['Back off', 'Close'])
  assert.deepEqual(await offered(['read', 'admin']), ['Save', 'Remove settings', 'Close'])
})

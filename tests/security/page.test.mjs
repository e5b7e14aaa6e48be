// A page of another site, in Chromium, that knows the ports of a server on this machine. The listener for clients of
// beanstalkd has no authentication, and a browser posts to it for every page: nothing of that may be carried out. Over
// HTTP the page can neither change anything nor open streams of events.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { createConnection } from 'node:net'
import { after, before, test } from 'node:test'
import { useBrowser, useDaemon, withForeignPage } from '../web/browser.mjs'

useBrowser()
const daemon = useDaemon(['--beanstalk', '127.0.0.1:0'])
let site

before(async () => {
  site = createServer((_, response) => response.end('<title>elsewhere</title>'))
  await new Promise((resolve) => site.listen(0, '127.0.0.1', resolve))
})
after(() => site.close())

const beanstalkPort = () => Number(/beanstalk_ready.*address=127\.0\.0\.1:(\d+)/.exec(daemon.log)[1])

/** The reply to commands of a proper client. */
function ask(commands) {
  return new Promise((resolve, reject) => {
    const socket = createConnection(beanstalkPort(), '127.0.0.1', () => socket.write(commands + 'quit\r\n'))
    let reply = ''
    socket.on('data', (bytes) => (reply += bytes))
    socket.on('end', () => resolve(reply))
    socket.on('error', reject)
  })
}

test('a page posts commands of beanstalkd', async () => {
  const victim = /INSERTED (\d+)/.exec(await ask('put 0 3600 60 6\r\nvictim\r\n'))[1]
  const commands = `delete ${victim}\r\nput 0 0 60 4\r\nevil\r\n`
  await withForeignPage(`http://localhost:${site.address().port}/`, (page) =>
    page.evaluate(
      async ({ port, commands }) => {
        const url = `http://127.0.0.1:${port}/`
        const padded = commands.padEnd(300_000, 'quit\r\n')
        const form = new FormData()
        form.append('x', `\r\n${commands}`)
        const settled = []
        for (const body of [commands, padded, `\r\n\r\n${commands}`, new Blob([commands]), form]) {
          settled.push(fetch(url, { method: 'POST', mode: 'no-cors', body }).catch(() => null))
          settled.push(fetch(url + 'a'.repeat(300), { method: 'POST', mode: 'no-cors', body }).catch(() => null))
        }
        navigator.sendBeacon(url, commands)
        await Promise.all(settled)
      },
      { port: beanstalkPort(), commands },
    ),
  )
  assert.match(await ask(`stats-job ${victim}\r\n`), /\nstate: delayed\n/)
  assert.match(await ask('stats\r\n'), /\ntotal-jobs: 1\n/)
})

test('a page opens streams of events and changes nothing', async () => {
  const outcome = await withForeignPage(`http://localhost:${site.address().port}/`, (page) =>
    page.evaluate(async (url) => {
      const opened = await new Promise((resolve) => {
        const events = new EventSource(`${url}/v1/events`)
        events.onopen = () => resolve('open')
        events.onerror = () => resolve('refused')
      })
      const put = await fetch(`${url}/v1/queues/q/messages`, { method: 'POST', mode: 'no-cors', body: '{"body":"x"}' }).catch(() => null)
      await fetch(`${url}/v1/events`, { mode: 'no-cors' }).catch(() => null)
      return { opened, put: put?.type }
    }, daemon.url),
  )
  assert.equal(outcome.opened, 'refused')
  const stats = await daemon.call('GET', '/v1/stats')
  assert.equal(stats.accepted, 1)
  assert.match(await (await fetch(`${daemon.url}/metrics`)).text(), /^duewheel_limit_use\{limit="http.event_streams_max"\} 0$/m)
})

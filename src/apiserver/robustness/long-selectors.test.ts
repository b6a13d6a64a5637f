// Selectors as long as a URL allows: lists serve other requests meanwhile, and watches of one user cannot slow down all writes.
// Time passes with every check of a slice, so the number of slices does not depend on the machine.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { startServer } from '../server.harness.ts'
import { longSelectorsCharsMax } from '../watch-cache/selector-limit.ts'

class CheckedClock extends VirtualClock {
  #readings = 0

  override monotonicMs(): number {
    return this.#readings++
  }
}

const configMaps = '/api/v1/namespaces/default/configmaps'
const objects = 2_000
const selectorChars = 60_000

const excluded = Array.from({ length: 8_000 }, (_, index) => `!k${index}`)
  .join()
  .slice(0, selectorChars)
const values = Array.from({ length: 3_000 }, (_, index) => `metadata.name!=n${index}`)
  .join()
  .slice(0, selectorChars)
const rows: [what: string, query: string, count: number][] = [
  ['labels', `labelSelector=${excluded}`, objects],
  ['one label', `labelSelector=app=web,${excluded}`, objects / 2],
  ['fields', `fieldSelector=${values.slice(0, values.lastIndexOf(','))}`, 0],
]

async function serverWithObjects() {
  const server = await startServer(undefined, { clock: new CheckedClock() })
  for (let index = 0; index < objects; index++) {
    const labels = index % 2 === 0 ? { app: 'web' } : {}
    await server.call('POST', configMaps, { metadata: { name: `n${index}`, labels } })
  }
  return server
}

test('lists with long selectors serve other requests meanwhile', async (t) => {
  await using server = await serverWithObjects()
  for (const [what, query, count] of rows)
    await t.test(what, async () => {
      const state = { isDone: false }
      const listed = server.call('GET', `${configMaps}?${query}`).finally(() => (state.isDone = true))
      let served = 0
      for (; !state.isDone; served++) {
        equal((await server.call('GET', '/version')).status, 200)
        await eventLoopTurn()
      }
      const { status, body } = await listed
      equal(status, 200)
      deepEqual([body.items.length, body.metadata.continue], [count, undefined])
      ok(served > objects / 64 / 5 / 2, `${served}`)
    })
})

test('watches with long selectors serve other requests before their first events, and miss no change', async () => {
  await using server = await serverWithObjects()
  const state = { isDone: false }
  const query = `watch=1&labelSelector=app=web,${excluded}`
  const started = server.wire('GET', `${configMaps}?${query}`).finally(() => (state.isDone = true))
  const events = server.watch(`${configMaps}?${query}`, objects / 2 + 2)
  const labels = { app: 'web' }
  let served = 0
  for (; !state.isDone; served++) {
    if (served === 1) await server.call('POST', configMaps, { metadata: { name: 'new', labels } })
    if (served === 2) await server.call('DELETE', `${configMaps}/n0`)
    equal((await server.call('GET', '/version')).status, 200)
    await eventLoopTurn()
  }
  equal((await started).status, 200)
  ok(served > objects / 64 / 5 / 2, `${served}`)
  const seen = (await events).map(({ type, object }) => `${type} ${object.metadata.name}`)
  equal(new Set(seen).size, objects / 2 + 2)
  deepEqual([seen[0], seen.at(-2), seen.at(-1)], ['ADDED n0', 'ADDED new', 'DELETED n0'])
})

test('watches with long selectors are limited for each user', async () => {
  await using server = await startServer()
  const start = (user: string, selector: string) =>
    server.wire('GET', `${configMaps}?watch=1&labelSelector=${selector}`, { as: user })
  const fit = Math.floor(longSelectorsCharsMax / excluded.length)
  for (let count = 0; count < fit; count++) equal((await start('mallory', excluded)).status, 200)
  const { status, headers } = await start('mallory', excluded)
  equal(status, 429)
  equal(headers['retry-after'], '1')
  equal((await start('mallory', 'app=web')).status, 200)
  equal((await start('jane', excluded)).status, 200)
  const { body } = await server.call('GET', '/metrics')
  match(body as string, /^coxswain_rejected_requests_total\{limit="watch-selectors"\} 1$/m)
})

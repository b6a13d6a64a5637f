import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { StatusError } from '../../../api/errors/status-error.ts'
import { seededRandom } from '../../../base/random/random.ts'
import { VirtualClock } from '../../../base/time/virtual-clock.ts'
import { FakeApi } from './fake-api.harness.ts'
import { followList, type FollowedList, type ListPage } from './follow-list.ts'

type Names = ListPage & { readonly names?: readonly string[] }

const list: FollowedList = {
  target: (query) =>
    `/list?${new URLSearchParams(Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined))}`,
  accept: 'application/json',
  isWatchable: true,
}
const page = (resourceVersion: string, names: readonly string[], token?: string): Names => ({
  metadata: { resourceVersion, ...(token === undefined ? {} : { continue: token }) },
  names,
})
const event = (type: string, name: string, resourceVersion: string) => ({
  type,
  object: { metadata: { name, resourceVersion } },
})
const gone = { code: 410, reason: 'Expired', message: 'too old resource version' }

function follow(own: Partial<FollowedList> = {}, document: (target: string) => unknown = () => page('5', ['a'])) {
  const api = Object.assign(new FakeApi(), { document })
  const clock = new VirtualClock()
  const stop = new AbortController()
  const seen: string[] = []
  const ended = followList<Names>(
    { ...list, ...own },
    {
      listed: (pages) => seen.push(`listed ${pages.flatMap(({ names = [] }) => names).join()}`),
      changed: (events) =>
        seen.push(
          ...events.map(({ type, object }) => `${type} ${(object as { metadata: { name: string } }).metadata.name}`),
        ),
      failed: (reason) => seen.push(`failed: ${reason}`),
    },
    { api, clock, random: seededRandom(1) },
    stop.signal,
  )
  return { api, clock, stop, seen, ended }
}

test('all pages are listed, and then watched from their revision', async () => {
  const { api, clock, seen, stop, ended } = follow({}, (target) =>
    target.includes('continue=next') ? page('5', ['b']) : page('5', ['a'], 'next'),
  )
  await clock.settle()
  deepEqual(api.reads, ['/list?limit=500', '/list?limit=500&continue=next'])
  equal(api.newest.target, '/list?watch=1&allowWatchBookmarks=true&resourceVersion=5')
  api.newest.lines(event('ADDED', 'c', '6'), event('MODIFIED', 'a', '7'))
  api.newest.lines(event('DELETED', 'b', '8'))
  await clock.settle()
  deepEqual(seen, ['listed a,b', 'ADDED c', 'MODIFIED a', 'DELETED b'])
  stop.abort()
  await ended
  deepEqual(seen.slice(4), [], 'an aborted watch is no failure')
})

test('a watch that ends is continued from the last revision, also that of a bookmark or of a table', async () => {
  const { api, clock, stop, ended } = follow()
  await clock.settle()
  for (const [object, revision] of [
    [{ metadata: { resourceVersion: '9' } }, '9'],
    [{ metadata: { resourceVersion: '' }, rows: [{ object: { metadata: { resourceVersion: '12' } } }] }, '12'],
    [{ rows: [{}], metadata: { resourceVersion: '13' } }, '13'],
  ] as const) {
    api.newest.lines({ type: 'BOOKMARK', object })
    await clock.advance(2_000)
    api.newest.end()
    await clock.settle()
    equal(api.newest.parameter('resourceVersion'), revision)
  }
  equal(api.reads.length, 1, 'nothing is listed again')
  stop.abort()
  await ended
})

for (const [how, expire] of [
  ['an event', (api: FakeApi) => api.newest.lines({ type: 'ERROR', object: gone })],
  ['the response', (api: FakeApi) => api.newest.fail(new StatusError(410, 'Expired', gone.message))],
] as const)
  test(`objects are listed again when ${how} says that the revision is too old`, async () => {
    const { api, clock, seen, stop, ended } = follow()
    await clock.settle()
    expire(api)
    await clock.advance(1_000)
    deepEqual(seen, ['listed a', 'listed a'], 'this is no failure')
    equal(api.streams.length, 2)
    stop.abort()
    await ended
  })

test('an error is shown, and the objects are listed again', async () => {
  let isDown = true
  const { clock, seen, stop, ended } = follow({}, () => {
    if (isDown) throw new Error('connection refused')
    return page('5', ['a'])
  })
  await clock.settle()
  isDown = false
  await clock.advance(1_000)
  deepEqual(seen, ['failed: connection refused', 'listed a'])
  stop.abort()
  await ended
})

test('retries become rare while every watch ends at once', async () => {
  for (const close of [
    (api: FakeApi) => (api.onStream = (stream) => stream.end()),
    (api: FakeApi) => (api.onStream = (stream) => stream.fail(new StatusError(403, 'Forbidden', 'no watch'))),
  ]) {
    const { api, clock, stop, ended } = follow()
    close(api)
    await clock.advance('10m')
    ok(api.streams.length > 5 && api.streams.length < 40, `${api.streams.length} watches in ten minutes`)
    const before = api.streams.length
    api.onStream = () => undefined
    await clock.advance('2m')
    equal(api.streams.length, before + 1)
    api.newest.end()
    await clock.advance(300)
    equal(api.streams.length, before + 2, 'a watch that has lasted is continued soon')
    stop.abort()
    await ended
  }
})

test('a list with durations is listed again when its watch ends', async () => {
  const { api, clock, seen, stop, ended } = follow({ listEverySeconds: () => 15 })
  await clock.settle()
  equal(api.newest.parameter('timeoutSeconds'), '15')
  await clock.advance('15s')
  api.newest.end()
  await clock.settle()
  deepEqual(seen, ['listed a', 'listed a'])
  stop.abort()
  await ended
})

test('a list that cannot be watched is read once', async () => {
  const { api, seen, ended } = follow({ isWatchable: false })
  await ended
  deepEqual(seen, ['listed a'])
  deepEqual(api.streams, [])
})

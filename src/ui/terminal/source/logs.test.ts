import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { StatusError } from '../../../api/errors/status-error.ts'
import { VirtualClock } from '../../../base/time/virtual-clock.ts'
import { pods } from '../state/state.harness.ts'
import { FakeApi } from './fake-api.harness.ts'
import { followLogs, lineCharactersMax, linesMax } from './logs.ts'

const object = { resource: pods, namespace: 'default', name: 'web-0' }
const spec = {
  initContainers: [{ name: 'setup' }],
  containers: [{ name: 'main' }],
  ephemeralContainers: [{ name: 'debug' }],
}

function follow({ container = '', isPrevious = false } = {}) {
  const api = Object.assign(new FakeApi(), { document: () => ({ spec }) })
  const clock = new VirtualClock()
  const stop = new AbortController()
  let lines: readonly string[] | undefined
  const ended = followLogs(
    { kind: 'logs', object, container, isPrevious },
    { api },
    (shown) => void (lines = shown),
    stop.signal,
  )
  return { api, clock, stop, ended, lines: () => lines }
}

test('the log of a container is shown as it arrives, line by line', async () => {
  const { api, clock, lines, ended } = follow({ container: 'main' })
  await clock.settle()
  deepEqual(lines(), [], 'an empty log is no longer being loaded')
  equal(api.newest.target, '/api/v1/namespaces/default/pods/web-0/log?container=main&follow=true&tailLines=500')
  for (const [piece, shown] of [
    ['one\ntw', ['one']],
    ['o\n\n', ['one', 'two', '']],
    ['thr', ['one', 'two', '']],
  ] as const) {
    api.newest.text(piece)
    await clock.settle()
    deepEqual(lines(), shown)
  }
  api.newest.end()
  await ended
  deepEqual(lines(), ['one', 'two', '', 'thr', '(the log has ended)'])
})

test('the log of the previous container is not followed', async () => {
  const { api, clock, ended } = follow({ container: 'main', isPrevious: true })
  await clock.settle()
  equal(api.newest.target, '/api/v1/namespaces/default/pods/web-0/log?container=main&tailLines=500&previous=true')
  api.newest.end()
  await ended
})

test('the lines of all containers of a pod have their names', async () => {
  const { api, clock, lines, ended } = follow()
  await clock.settle()
  deepEqual(api.reads, ['/api/v1/namespaces/default/pods/web-0'])
  const [setup, main, debug] = api.streams
  deepEqual(
    api.streams.map((stream) => stream.parameter('container')),
    ['setup', 'main', 'debug'],
  )
  main?.text('serving\n')
  await clock.settle()
  setup?.end()
  debug?.fail(new StatusError(400, 'BadRequest', 'container "debug" is waiting to start'))
  await clock.settle()
  main?.end()
  await ended
  deepEqual(lines(), [
    '[main] serving',
    '[setup] (the log has ended)',
    '[debug] (no log: container "debug" is waiting to start)',
    '[main] (the log has ended)',
  ])
})

test('a line without an end is shown in pieces', async () => {
  const { api, clock, lines, stop, ended } = follow({ container: 'main' })
  await clock.settle()
  api.newest.text('x'.repeat(2 * lineCharactersMax + 3))
  await clock.settle()
  deepEqual(
    lines()?.map(({ length }) => length),
    [lineCharactersMax, lineCharactersMax],
  )
  stop.abort()
  await ended
})

test('the newest lines are kept', async () => {
  const { api, clock, lines, stop, ended } = follow({ container: 'main' })
  await clock.settle()
  api.newest.text(Array.from({ length: linesMax + 2 }, (_, index) => `${index}\n`).join(''))
  await clock.settle()
  equal(lines()?.length, linesMax)
  equal(lines()?.[0], '2')
  stop.abort()
  await ended
  equal(lines()?.at(-1), `${linesMax + 1}`, 'nothing is shown after the view was left')
})

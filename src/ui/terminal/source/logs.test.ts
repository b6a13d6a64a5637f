import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { StatusError } from '../../../api/errors/status-error.ts'
import { seededRandom } from '../../../base/random/random.ts'
import { VirtualClock } from '../../../base/time/virtual-clock.ts'
import { deployments, pods, resources } from '../state/state.harness.ts'
import { FakeApi } from './fake-api.harness.ts'
import { lineCharactersMax, linesMax, startPollMs } from './container-log.ts'
import { followLogs } from './logs.ts'
import { podsMax } from './workload-logs.ts'

const object = { resource: pods, namespace: 'default', name: 'web-0' }
const spec = {
  initContainers: [{ name: 'setup' }],
  containers: [{ name: 'main' }],
  ephemeralContainers: [{ name: 'debug' }],
}

function follow({
  container = '',
  isPrevious = false,
  of = object,
  document = (_target?: string): unknown => ({ spec }),
} = {}) {
  const api = Object.assign(new FakeApi(), { document })
  const clock = new VirtualClock()
  const stop = new AbortController()
  let lines: readonly string[] | undefined
  const ended = followLogs(
    { kind: 'logs', object: of, container, isPrevious },
    resources,
    { api, clock, random: seededRandom(1) },
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
  debug?.fail(new StatusError(404, 'NotFound', 'pods "web-0" not found'))
  await clock.settle()
  main?.end()
  await ended
  deepEqual(lines(), [
    '[main] serving',
    '[setup] (the log has ended)',
    '[debug] (no log: pods "web-0" not found)',
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

test('a container that has not started is asked again until it has', async () => {
  const waiting = (reason: string) =>
    new StatusError(400, 'BadRequest', `container "main" is waiting to start: ${reason}`)
  const { api, clock, lines, ended } = follow({ container: 'main' })
  for (const reason of ['ContainerCreating', 'ContainerCreating', 'ImagePullBackOff']) {
    await clock.settle()
    api.newest.fail(waiting(reason))
    await clock.advance(startPollMs)
  }
  equal(api.streams.length, 4)
  api.newest.text('serving\n')
  api.newest.end()
  await ended
  deepEqual(lines(), [
    '(no log: container "main" is waiting to start: ContainerCreating)',
    '(no log: container "main" is waiting to start: ImagePullBackOff)',
    'serving',
    '(the log has ended)',
  ])
})

test('a previous container that does not exist is not asked for again', async () => {
  const { api, clock, lines, ended } = follow({ container: 'main', isPrevious: true })
  await clock.settle()
  api.newest.fail(new StatusError(400, 'BadRequest', 'previous terminated container "main" not found'))
  await ended
  deepEqual(lines(), ['(no log: previous terminated container "main" not found)'])
})

test('colours and carriage returns of programs are left out', async () => {
  const { api, clock, lines, stop, ended } = follow({ container: 'main' })
  await clock.settle()
  api.newest.text('\x1b[1;32mINFO\x1b[0m ready\r\n\x1b[2Jcleared\n')
  await clock.settle()
  deepEqual(lines(), ['INFO ready', '\x1b[2Jcleared'], 'other sequences are shown as text by the screen')
  stop.abort()
  await ended
})

const workload = { resource: deployments, namespace: 'default', name: 'web' }
const deployment = { metadata: { uid: 'u' }, spec: { selector: { matchLabels: { app: 'web' } } } }
const pod = (name: string) => ({ metadata: { name, uid: `uid-${name}` }, spec: { containers: [{ name: 'main' }] } })
const workloadLogs = (names: readonly string[]) =>
  follow({
    of: workload,
    document: (target = '') =>
      target.includes('/deployments/') ? deployment : { metadata: { resourceVersion: '5' }, items: names.map(pod) },
  })

test('the logs of a workload are those of its pods, also of pods that are created later', async () => {
  const { api, clock, lines, stop, ended } = workloadLogs(['web-0', 'web-1'])
  await clock.settle()
  deepEqual(api.reads, [
    '/apis/apps/v1/namespaces/default/deployments/web',
    '/api/v1/namespaces/default/pods?labelSelector=app%3Dweb&limit=500',
  ])
  const logOf = (name: string) => api.streams.findLast(({ target }) => target.includes(`/pods/${name}/log`))
  const watch = api.streams.find((stream) => stream.parameter('watch') === '1')
  logOf('web-1')?.text('one\n')
  await clock.settle()
  logOf('web-0')?.text('two\n')
  watch?.lines({ type: 'MODIFIED', object: pod('web-0') }, { type: 'ADDED', object: pod('web-2') })
  await clock.settle()
  equal(api.streams.filter(({ target }) => target.includes('/log')).length, 3, 'each pod is followed once')
  logOf('web-2')?.text('three\n')
  await clock.settle()
  deepEqual(lines(), ['[web-1/main] one', '[web-0/main] two', '[web-2/main] three'])
  watch?.lines({ type: 'DELETED', object: pod('web-2') }, { type: 'ADDED', object: pod('web-2') })
  await clock.settle()
  equal(api.streams.filter(({ target }) => target.includes('/web-2/log')).length, 2, 'a new pod of the same name')
  stop.abort()
  await ended
  equal(clock.pendingTimers, 0)
})

test('the number of pods of a workload that are followed at a time is limited', async () => {
  const { api, clock, lines, stop, ended } = workloadLogs(Array.from({ length: podsMax + 1 }, (_, at) => `web-${at}`))
  await clock.settle()
  equal(api.streams.filter(({ target }) => target.includes('/log')).length, podsMax)
  deepEqual(lines(), [`[web-${podsMax}] (not shown: ${podsMax} pods are followed)`])
  stop.abort()
  await ended
})

test('a workload without pods says so', async () => {
  const { clock, lines, stop, ended } = workloadLogs([])
  await clock.settle()
  deepEqual(lines(), ['(there are no pods)'])
  stop.abort()
  await ended
})

test('a Service without a selector has no logs', async () => {
  await rejects(
    follow({ of: workload, document: () => ({ spec: {} }) }).ended,
    /deployment default\/web selects no pods/,
  )
})

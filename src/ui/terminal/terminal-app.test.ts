import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { StatusError } from '../../api/errors/status-error.ts'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { FakeApi } from './source/fake-api.harness.ts'
import { cronJobs, deployments, initialState, nowMs, pods } from './state/state.harness.ts'
import type { State } from './state/state.ts'
import { tableView } from './state/views.ts'
import type { ObjectRef } from './state/resources.ts'
import { TerminalApp, type ForwardPorts, type TerminalScreen } from './terminal-app.ts'

type ScreenEffect = Parameters<TerminalScreen['run']>[0] | { readonly kind: 'suspend' }

/** Positions and styles. */
// oxlint-disable-next-line no-control-regex -- that is how they begin
const codes = /\x1b\[[?\d;]*[a-zA-Z]/g

class FakeScreen implements TerminalScreen {
  readonly hasColors = false
  readonly ran: ScreenEffect[] = []
  isFull = false
  #written: string[] = []
  #away = Promise.withResolvers<void>()

  write(text: string): boolean {
    this.#written.push(text)
    return !this.isFull
  }

  suspend(): Promise<void> {
    return this.run({ kind: 'suspend' })
  }

  run(effect: ScreenEffect): Promise<void> {
    this.ran.push(effect)
    this.#away = Promise.withResolvers()
    return this.#away.promise
  }

  /** The other program has ended. */
  returns(): void {
    this.#away.resolve()
  }

  fails(error: Error): void {
    this.#away.reject(error)
  }

  /** The text that was written since the last call. */
  written(): string {
    return this.#written.splice(0).join('').replace(codes, '')
  }
}

const table = (...names: readonly string[]) => ({
  kind: 'Table',
  columnDefinitions: [{ name: 'Name' }, { name: 'Age' }],
  metadata: { resourceVersion: '5' },
  rows: names.map((name) => ({
    cells: [name, '0s'],
    object: {
      metadata: {
        name,
        namespace: 'default',
        uid: `uid-${name}`,
        resourceVersion: '5',
        creationTimestamp: new Date(nowMs).toISOString(),
      },
    },
  })),
})
const object = { resource: pods, namespace: 'default', name: 'web-0' }

interface FakeForward {
  readonly of: ObjectRef
  readonly ports: string
  readonly onReady: (text: string) => void
  readonly fail: (error: Error) => void
  readonly signal: AbortSignal
}

async function start(document: FakeApi['document'] = () => table('web-0'), state: State = initialState()) {
  const api = Object.assign(new FakeApi(), { document })
  const clock = new VirtualClock(nowMs)
  const screen = new FakeScreen()
  const forwards: FakeForward[] = []
  const forward: ForwardPorts = (of, ports, onReady, signal) =>
    new Promise((_, reject) => {
      forwards.push({ of, ports, onReady, fail: reject, signal })
      signal.addEventListener('abort', () => reject(signal.reason as Error))
    })
  const app = new TerminalApp(screen, { api, clock, random: seededRandom(1), forward }, state)
  const stop = new AbortController()
  const ended = app.run(stop.signal)
  await clock.advance(100)
  const typed = async (text: string): Promise<string> => {
    app.typed(text)
    await clock.advance(100)
    return screen.written()
  }
  return { api, clock, screen, app, stop, ended, typed, forwards }
}

test('the first view is drawn, and again when data arrives and when time passes', async () => {
  const { api, clock, screen, stop, ended } = await start()
  match(screen.written(), /pods\(default\)\[1\][^]*web-0/)
  api.newest.lines({ type: 'ADDED', object: table('api-0') })
  await clock.advance(100)
  match(screen.written(), /api-0/)
  await clock.advance(2_000)
  match(screen.written(), /2/, 'ages advance')
  stop.abort()
  await ended
  equal(clock.pendingTimers, 0)
})

test('only the shown view is followed', async () => {
  const { api, typed, stop, ended, clock } = await start()
  await typed('y')
  match(api.reads.at(-1) ?? '', /fieldSelector=metadata\.name%3Dweb-0/)
  equal(api.reads.length, 2)
  api.streams[0]?.lines({ type: 'ADDED', object: table('api-0') })
  await typed('q')
  equal(api.reads.length, 3, 'the list is read again')
  stop.abort()
  await ended
  equal(clock.pendingTimers, 0)
})

test('q, ctrl-c and the signal end it, also one that was aborted before', async () => {
  for (const key of ['q', '\x03']) {
    const { app, screen, ended, typed } = await start()
    app.typed(key)
    await ended
    screen.written()
    equal(await typed('?'), '', 'nothing is drawn afterwards')
  }
  const app = new TerminalApp(
    new FakeScreen(),
    { api: new FakeApi(), clock: new VirtualClock(), random: seededRandom(1), forward: () => Promise.resolve() },
    initialState(),
  )
  await app.run(AbortSignal.abort())
})

test('an ESC that nothing follows is the Escape key', async () => {
  const { typed, stop, ended } = await start()
  match(await typed('?'), /help/i)
  match(await typed('\x1b'), /pods\(default\)\[/)
  await typed('?')
  equal((await typed('\x1b[')).includes('pods(default)['), false, 'an incomplete sequence is no key')
  stop.abort()
  await ended
})

test('a resized terminal is drawn completely', async () => {
  const { app, clock, screen, stop, ended } = await start()
  screen.written()
  app.dispatch({ kind: 'resize', width: 100, height: 30 })
  await clock.advance(100)
  match(screen.written(), /pods\(default\)\[1\][^]*web-0/)
  stop.abort()
  await ended
})

test('a terminal that is slow gets the newest frame when it has caught up', async () => {
  const { app, screen, typed, clock, stop, ended } = await start()
  screen.isFull = true
  await typed('?')
  equal(await typed('\x1b'), '')
  equal(await typed('y'), '')
  screen.isFull = false
  app.drained()
  await clock.advance(100)
  match(screen.written(), /YAML/)
  stop.abort()
  await ended
})

for (const [key, effect] of [
  ['\x1a', { kind: 'suspend' }],
  ['s', { kind: 'shell', object, container: '' }],
  ['e', { kind: 'edit', object }],
] as const)
  test(`nothing is drawn during ${effect.kind}, and everything afterwards`, async () => {
    const { api, screen, typed, clock, stop, ended } = await start()
    screen.written()
    equal(await typed(`${key}${key}q`), '', 'further keys are dropped')
    deepEqual(screen.ran, [effect])
    api.newest.lines({ type: 'ADDED', object: table('api-0') })
    await clock.advance(5_000)
    equal(screen.written(), '')
    screen.returns()
    await clock.advance(100)
    match(screen.written(), /pods\(default\)\[2\][^]*api-0[^]*web-0/)
    stop.abort()
    await ended
  })

test('the failure of another program is shown', async () => {
  const { screen, typed, clock, stop, ended } = await start()
  await typed('e')
  screen.fails(new Error('kubectl is not installed'))
  await clock.advance(100)
  match(screen.written(), /pods\(default\)[^]*kubectl is not installed/)
  stop.abort()
  await ended
})

for (const [what, keys, command, options] of [
  [
    'deleted',
    '\x04y',
    /kubectl delete pod\/web-0 -n default: is being deleted/,
    { propagationPolicy: 'Background', preconditions: { uid: 'uid-web-0' } },
  ],
  [
    'killed',
    '\x0b',
    /kubectl delete pod\/web-0 --now -n default: is being deleted/,
    { propagationPolicy: 'Background', preconditions: { uid: 'uid-web-0' }, gracePeriodSeconds: 1 },
  ],
] as const)
  test(`the shown pod is ${what}, and no other of its name`, async () => {
    const { api, typed, stop, ended } = await start()
    match(await typed(keys), command)
    deepEqual(api.deletes, [{ target: '/api/v1/namespaces/default/pods/web-0', options }])
    api.onDelete = () => {
      throw new StatusError(409, 'Conflict', 'the UID does not match')
    }
    match(await typed(keys), /kubectl delete [^]*the UID does not match/)
    stop.abort()
    await ended
  })

test('Enter reads a workload and shows its pods; where that fails, why', async () => {
  let isGone = false
  const spec = { selector: { matchLabels: { app: 'web' } } }
  const state = {
    ...initialState(),
    views: [tableView(1, { kind: 'list', resource: deployments, namespace: 'default' })],
  } satisfies State
  const { api, typed, stop, ended } = await start((target) => {
    if (!target.endsWith('/deployments/web-0')) return table('web-0')
    if (isGone) throw new StatusError(404, 'NotFound', 'deployments.apps "web-0" not found')
    return { metadata: { name: 'web-0', uid: 'uid-web-0' }, spec }
  }, state)
  match(await typed('\r'), /pods\(default\)/)
  ok(api.reads.some((target) => target.includes('labelSelector=app%3Dweb')))
  isGone = true
  await typed('\x1b')
  match(await typed('\r'), /deployments\.apps "web-0" not found/)
  stop.abort()
  await ended
})

test('a list without uids is deleted by name', async () => {
  const plain = { ...table(), rows: [{ cells: ['nightly', '0s'], object: { metadata: { name: 'nightly' } } }] }
  const state = {
    ...initialState(),
    views: [tableView(1, { kind: 'list', resource: cronJobs, namespace: 'default' })],
  } satisfies State
  const { api, typed, stop, ended } = await start(() => plain, state)
  await typed('\x04y')
  deepEqual(api.deletes[0]?.options, { propagationPolicy: 'Background' })
  stop.abort()
  await ended
})

const workloads = {
  ...initialState(),
  views: [tableView(1, { kind: 'list', resource: deployments, namespace: 'default' })],
} satisfies State

test('a Deployment is scaled, with the command of kubectl and its result', async () => {
  const { api, typed, stop, ended } = await start(() => table('web'), workloads)
  match(await typed('s3\r'), /kubectl scale deployment\/web --replicas=3 -n default: scaled/)
  const target = '/apis/apps/v1/namespaces/default/deployments/web/scale'
  deepEqual(api.patches, [{ target, type: 'application/merge-patch+json', patch: { spec: { replicas: 3 } } }])
  api.onPatch = () => {
    throw new StatusError(403, 'Forbidden', 'deployments.apps "web" is forbidden')
  }
  match(await typed('s4\r'), /--replicas=4 -n default: deployments\.apps "web"[^]*is forbidden/)
  stop.abort()
  await ended
})

test('a Deployment is restarted after a question, unless it is paused', async () => {
  let paused = false
  const { api, typed, stop, ended } = await start(
    (target) => (target.endsWith('/web') ? { spec: { paused } } : table('web')),
    workloads,
  )
  match(await typed('r'), /Restart deployment default\/web\?/)
  match(await typed('y'), /kubectl rollout restart deployment\/web -n default: restarted/)
  const metadata = { annotations: { 'kubectl.kubernetes.io/restartedAt': '2026-03-01T12:00:00Z' } }
  deepEqual(api.patches, [
    {
      target: '/apis/apps/v1/namespaces/default/deployments/web',
      type: 'application/strategic-merge-patch+json',
      patch: { spec: { template: { metadata } } },
    },
  ])
  paused = true
  match(await typed('ry'), /can't restart paused\s+deployment/)
  equal(api.patches.length, 1)
  stop.abort()
  await ended
})

test('ports are forwarded until that is ended, and with the program', async () => {
  const { typed, forwards, clock, screen, stop, ended } = await start()
  await typed('F8080:80\r')
  await typed('F9090:90\r')
  const [first, second] = forwards
  deepEqual([first?.of, first?.ports, second?.ports], [object, '8080:80', '9090:90'])
  first?.onReady('Forwarding from 127.0.0.1:8080 -> 80')
  await clock.advance(100)
  match(screen.written(), /kubectl port-forward pod\/web-0 8080:80 -n default: Forwarding from\s+127\.0\.0\.1:8080/)
  second?.fail(new Error('unable to listen on port 9090'))
  await clock.advance(100)
  match(screen.written(), /unable to listen on port\s+9090/)
  match(await typed(':pf\r'), /forwards\[2\][^]*8080:80 +Running[^]*9090:90 +Failed +unable to listen/)
  match(await typed('\x04'), /8080:80 of pod default\/web-0 is no longer forwarded/)
  deepEqual([first?.signal.aborted, second?.signal.aborted], [true, false])
  stop.abort()
  await ended
  equal(second?.signal.aborted, true)
})

test('another context ends the view with its name', async () => {
  const { typed, ended } = await start()
  match(await typed(':ctx\r'), /contexts\[2\][^]*coxswain[^]*\*[^]*staging/)
  match(await typed('j\r'), /connecting to staging/)
  equal(await ended, 'staging')
})

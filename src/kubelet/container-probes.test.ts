// Probes of containers on simulated nodes.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { pod } from '../api/core/v1/pod/pod.ts'
import { startCluster } from '../cluster/testing/start-cluster.ts'
import { serveUntilTerminated, type SimulatedProgram } from '../machine/runtime/simulated-runtime.ts'
import { ctx, eventsOf, firstStatus, run } from './pod-on-node.harness.ts'

/** Serves until it is terminated; `answers` gives the HTTP responses. */
const site =
  (answer: () => number): SimulatedProgram =>
  (process) => {
    process.serveHttp(80, () => ({ status: answer() }))
    return serveUntilTerminated(process)
  }
const httpGet = { path: '/healthz', port: 80 }

test('a liveness probe that fails three times restarts the container and records events', async () => {
  let isWell = true
  const livenessProbe = { httpGet, periodSeconds: 5, terminationGracePeriodSeconds: 3 }
  await using running = await run(
    { containers: [{ name: 'c', image: 'tested', livenessProbe }] },
    { tested: site(() => (isWell ? 200 : 500)) },
  )
  await running.cluster.clock.advance('1m')
  equal((await firstStatus(running))?.restartCount, 0)
  isWell = false
  await running.cluster.clock.advance('16s')
  isWell = true
  await running.cluster.clock.advance('1m')
  const status = await firstStatus(running)
  deepEqual([status?.restartCount, status?.ready, status?.lastState?.terminated?.exitCode], [1, true, 0])
  const statuses = (await eventsOf(running.cluster)).join('\n')
  match(statuses, /Unhealthy: Liveness probe failed: HTTP probe failed with statuscode: 500 \(x\d\)/)
  match(statuses, /Killing: Container c failed liveness probe, will be restarted/)
})

test('a readiness probe makes a pod ready and unready without restarts', async () => {
  let isWell = false
  const readinessProbe = { httpGet, periodSeconds: 2, initialDelaySeconds: 4, failureThreshold: 2, successThreshold: 2 }
  await using running = await run(
    { containers: [{ name: 'c', image: 'tested', readinessProbe }] },
    { tested: site(() => (isWell ? 200 : 500)) },
  )
  const look = async (after: string) => {
    await running.cluster.clock.advance(after)
    const { status } = await running.read()
    return [status.phase, status.conditions?.find(({ type }) => type === 'Ready')?.status]
  }
  deepEqual(await look('3s'), ['Running', 'False'])
  isWell = true
  deepEqual(await look('2s'), ['Running', 'False'], 'one success of two')
  deepEqual(await look('2s'), ['Running', 'True'])
  isWell = false
  deepEqual(await look('5s'), ['Running', 'False'])
  equal((await firstStatus(running))?.restartCount, 0)
})

test('a terminating pod becomes unready before its containers end', async () => {
  let isWell = true
  const readinessProbe = { httpGet, periodSeconds: 2 }
  await using running = await run(
    { terminationGracePeriodSeconds: 60, containers: [{ name: 'c', image: 'tested', readinessProbe }] },
    {
      tested: (process) => {
        process.serveHttp(80, () => ({ status: isWell ? 200 : 503 }))
        process.terminated.addEventListener('abort', () => (isWell = false))
        return new Promise(() => undefined)
      },
    },
  )
  const look = async (after: string) => {
    await running.cluster.clock.advance(after)
    const now = await running.pods.find('p', 'default', ctx)
    return now?.status.conditions?.find(({ type }) => type === 'Ready')?.status
  }
  equal(await look('5s'), 'True')
  await running.pods.delete('p', 'default', {}, ctx)
  equal(await look('3s'), 'True', 'fewer than three failures')
  equal(await look('5s'), 'False')
  isWell = true
  equal(await look('5s'), 'True')
  equal(await look('50s'), undefined)
})

test('a startup probe delays the others; one that never succeeds restarts the container', async () => {
  let isUp = false
  const asked: string[] = []
  const program: SimulatedProgram = (process) => {
    process.serveHttp(80, ({ path }) => {
      asked.push(path)
      return { status: path === '/up' && !isUp ? 500 : 200 }
    })
    return serveUntilTerminated(process)
  }
  const startupProbe = { httpGet: { path: '/up', port: 80 }, periodSeconds: 10, failureThreshold: 3 }
  const livenessProbe = { httpGet: { path: '/alive', port: 80 }, periodSeconds: 1 }
  await using running = await run(
    { containers: [{ name: 'c', image: 'tested', startupProbe, livenessProbe }] },
    { tested: program },
  )
  await running.cluster.clock.advance('15s')
  deepEqual(new Set(asked), new Set(['/up']))
  deepEqual([(await firstStatus(running))?.started, (await firstStatus(running))?.ready], [false, false])
  await running.cluster.clock.advance('10s')
  equal((await firstStatus(running))?.restartCount, 1)
  isUp = true
  await running.cluster.clock.advance('12s')
  deepEqual([(await firstStatus(running))?.started, asked.includes('/alive')], [true, true])
})

test('a readiness probe begins as soon as the startup probe has succeeded', async () => {
  let isUp = false
  const program = site(() => (isUp ? 200 : 503))
  const startupProbe = { httpGet, periodSeconds: 1, failureThreshold: 60 }
  const readinessProbe = { httpGet, periodSeconds: 1_000 }
  await using running = await run(
    { containers: [{ name: 'c', image: 'tested', startupProbe, readinessProbe }] },
    { tested: program },
  )
  await running.cluster.clock.advance('30s')
  deepEqual([(await firstStatus(running))?.started, (await firstStatus(running))?.ready], [false, false])
  isUp = true
  await running.cluster.clock.advance('3s')
  deepEqual([(await firstStatus(running))?.started, (await firstStatus(running))?.ready], [true, true])
})

test('a restarted kubelet keeps ready containers ready', async () => {
  let asked = 0
  const program = site(() => {
    asked++
    return 200
  })
  const readinessProbe = { httpGet, periodSeconds: 100 }
  await using running = await run({ containers: [{ name: 'c', image: 'tested', readinessProbe }] }, { tested: program })
  await running.cluster.clock.advance('5s')
  const { spec, status, metadata } = await running.read()
  equal(status.conditions?.find(({ type }) => type === 'Ready')?.status, 'True')
  await running.cluster.kill(`kubelet/${spec.nodeName}`)
  running.cluster.start(`kubelet/${spec.nodeName}`)
  await running.cluster.clock.advance('200ms')
  equal(asked, 1)
  equal((await running.read()).metadata.resourceVersion, metadata.resourceVersion, 'nothing was reported')
  await running.cluster.clock.advance('2m')
  equal(asked > 1, true)
})

const probe = { httpGet: { port: 80 }, periodSeconds: 1, failureThreshold: 1 }
const exec = { exec: { command: ['ask'] }, periodSeconds: 1, failureThreshold: 1 }
const answering: [
  why: string,
  annotations: Record<string, string>,
  asked: object,
  seen: [ready: string, restarts: number][],
][] = [
  [
    'as configured for its image',
    {},
    { readinessProbe: probe },
    [
      ['False', 0],
      ['True', 0],
      ['True', 0],
    ],
  ],
  [
    'as configured in its pod',
    { 'answer-after': '12s' },
    { readinessProbe: exec },
    [
      ['False', 0],
      ['False', 0],
      ['True', 0],
    ],
  ],
  [
    'until it stops responding',
    { 'answer-until.c': '8s' },
    { readinessProbe: probe },
    [
      ['False', 0],
      ['True', 0],
      ['False', 0],
    ],
  ],
  [
    'and is restarted when they fail',
    { 'answer-after': '0s', 'answer-until': '8s' },
    { livenessProbe: exec },
    [
      ['True', 0],
      ['True', 0],
      ['True', 1],
    ],
  ],
]
for (const [why, configured, asked, seen] of answering)
  test(`a simulated container responds to probes ${why}`, async () => {
    await using cluster = await startCluster({ simulation: { images: { slow: { answerAfterMs: 5_000 } } } })
    const annotations = Object.fromEntries(
      Object.entries(configured).map(([name, value]) => [`simulated.coxswain.dev/${name}`, value]),
    )
    const spec = { containers: [{ name: 'c', image: 'slow', ...asked }] }
    await cluster.client.of(pod).create({ metadata: { name: 'p', annotations }, spec }, 'default', ctx)
    const found: [string, number][] = []
    for (const wait of ['3s', '4s', '8s']) {
      await cluster.clock.advance(wait)
      const { status } = await cluster.client.of(pod).get('p', 'default', ctx)
      const ready = status.conditions?.find(({ type }) => type === 'Ready')?.status ?? ''
      found.push([ready, status.containerStatuses?.[0]?.restartCount ?? 0])
    }
    deepEqual(found, seen)
  })

// Flow 28: a container that does not respond is killed and restarted; a startup probe delays the other probes.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { context, event, pod, startCluster, type TestCluster } from '../../src/cluster/index.ts'
import { comparePage, excerpt, inOrder } from './page.ts'

const ctx = context(new AbortController().signal)
const httpGet = (path: string) => ({ httpGet: { path, port: 80 } })

/** A site that is healthy for this long and then fails; `/hangs` never responds; `/slow` responds after a while. */
const site = (state: { wellMs: number; asked: string[] }) => ({
  site: ({
    serveHttp,
    clock,
    terminated,
  }: {
    serveHttp: (port: number, answer: (request: { path: string }) => Promise<{ status: number }>) => void
    clock: { monotonicMs(): number }
    terminated: AbortSignal
  }) => {
    const startedMs = clock.monotonicMs()
    const sinceMs = () => clock.monotonicMs() - startedMs
    serveHttp(80, ({ path }) => {
      state.asked.push(`${path} ${Math.floor(sinceMs() / 1000)}`)
      if (path === '/hangs') return new Promise(() => {})
      const isWell = path === '/slow' ? sinceMs() > 20_000 : sinceMs() < state.wellMs
      return Promise.resolve({ status: isWell ? 200 : 503 })
    })
    return new Promise<number>((resolve) => terminated.addEventListener('abort', () => resolve(137)))
  },
})

async function run(probes: object, state: { wellMs: number; asked: string[] }): Promise<TestCluster> {
  const cluster = await startCluster({ simulation: { images: site(state) } })
  const spec = { containers: [{ name: 'web', image: 'site', ...probes }], terminationGracePeriodSeconds: 0 }
  await cluster.client.of(pod).create({ metadata: { name: 'web' }, spec }, 'default', ctx)
  return cluster
}

const statusOf = async ({ client }: TestCluster) =>
  (await client.of(pod).get('web', 'default', ctx)).status.containerStatuses?.[0]

test('28 liveness', async () => {
  const livenessProbe = { ...httpGet('/alive'), periodSeconds: 5, failureThreshold: 3 }
  await using cluster = await run({ livenessProbe }, { wellMs: 12_000, asked: [] })
  await cluster.clock.advance('31s')
  equal((await statusOf(cluster))?.restartCount, 1, 'three answers that agree')
  const recorded = (await cluster.client.of(event).list({ fieldSelector: 'involvedObject.name=web' }, ctx)).items
  const texts = recorded.map(({ reason, message }) => `${reason}: ${message}`).join('\n')
  match(texts, /^Unhealthy: Liveness probe failed: HTTP probe failed with statuscode: 503$/m)
  match(texts, /^Killing: Container web failed liveness probe, will be restarted$/m)
  const flow = cluster.flow(pod, 'web')
  inOrder(flow, /Runtime: start container web/, /Runtime: stop container web/, /Runtime: start container web/)
  await cluster.clock.advance('3m')
  const again = await statusOf(cluster)
  equal(again?.state?.waiting?.reason ?? again?.lastState?.terminated?.reason, 'CrashLoopBackOff')

  await using hanging = await run(
    { livenessProbe: { ...httpGet('/hangs'), periodSeconds: 10, timeoutSeconds: 2, failureThreshold: 2 } },
    { wellMs: Infinity, asked: [] },
  )
  await hanging.clock.advance('40s')
  ok(((await statusOf(hanging))?.restartCount ?? 0) >= 1, 'an answer that does not come is a wrong one')
  const hung = hanging.flow(pod, 'web')

  const state = { wellMs: Infinity, asked: [] as string[] }
  await using slow = await run(
    { startupProbe: { ...httpGet('/slow'), periodSeconds: 5, failureThreshold: 10 }, livenessProbe },
    state,
  )
  await slow.clock.advance('15s')
  deepEqual([(await statusOf(slow))?.started, state.asked.some((path) => path.startsWith('/alive'))], [false, false])
  await slow.clock.advance('30s')
  deepEqual([(await statusOf(slow))?.started, state.asked.some((path) => path.startsWith('/alive'))], [true, true])
  equal((await statusOf(slow))?.restartCount, 0)
  const started = slow.flow(pod, 'web')

  await comparePage('28-liveness', 'Liveness', [
    {
      heading: 'A failing liveness probe',
      text: 'After three failed probes the kubelet stops the container, reports the reason and restarts it. This counts as a crash, so the next restart has a longer backoff.',
      diagram: excerpt(
        flow,
        /test ──► API Server/,
        /Runtime: (start|stop) container/,
        /create events web/,
        /patch pods\/status/,
      ),
    },
    {
      heading: 'A probe that hangs',
      text: 'The probe times out after two seconds, which counts as a failure. After two failures the container is restarted.',
      diagram: excerpt(hung, /test ──► API Server/, /Runtime: (start|stop) container/, /probe of container/),
    },
    {
      heading: 'A startup probe delays the others',
      text: 'The container takes twenty seconds to start. Until its startup probe succeeds, the liveness probe does not run and the container is not killed.',
      diagram: excerpt(
        started,
        /test ──► API Server/,
        /Runtime: (start|stop) container/,
        /probe of container/,
        /patch pods\/status/,
      ),
    },
  ])
})

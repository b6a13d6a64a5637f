// The Ready condition follows the state of the runtime and its network; messages equal upstream's.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { startCluster } from '../../cluster/testing/start-cluster.ts'
import { context } from '../../base/observability/context.ts'
import { event } from '../../api/core/v1/event.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { readyCondition, type RuntimeHealth } from '../../machine/runtime/container-runtime.ts'
import { RuntimeHealthMonitor } from './runtime-health-monitor.ts'
import { nodeStatus } from './node-status.ts'
import { solo, soloNode } from '../solo.harness.ts'

const well: RuntimeHealth = { runtime: readyCondition, network: readyCondition }
const noNetwork: RuntimeHealth = {
  ...well,
  network: {
    isReady: false,
    reason: 'NetworkPluginNotReady',
    message: 'Network plugin returns error: cni plugin not initialized',
  },
}
const ill: RuntimeHealth = { ...well, runtime: { isReady: false, reason: 'Ill', message: 'no more space' } }
const networkText =
  'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady ' +
  'message:Network plugin returns error: cni plugin not initialized'

type Reported = RuntimeHealth | 'nothing'
const rows: [why: string, reports: readonly (readonly [afterMs: number, reports: Reported])[], message: string][] = [
  ['it is healthy', [[0, well]], ''],
  ['it has never responded', [[0, 'nothing']], 'container runtime status check may not have completed yet'],
  [
    'it does not respond briefly',
    [
      [0, well],
      [29_000, 'nothing'],
    ],
    '',
  ],
  [
    'it does not respond for long',
    [
      [0, well],
      [30_000, 'nothing'],
    ],
    'container runtime is down',
  ],
  [
    'the PLEG is not healthy',
    [
      [0, well],
      [185_000, 'nothing'],
    ],
    '[container runtime is down, PLEG is not healthy: pleg was last seen active 3m5s ago; threshold is 3m0s]',
  ],
  ['it has no network', [[0, noNetwork]], networkText],
  [
    'it responds again',
    [
      [0, well],
      [60_000, 'nothing'],
      [5_000, well],
    ],
    '',
  ],
  [
    'it reports that it is not ready',
    [
      [0, well],
      [5_000, ill],
    ],
    'container runtime not ready: RuntimeReady=false reason:Ill message:no more space',
  ],
]
for (const [why, reports, message] of rows)
  test(`runtime health: ${why}`, async () => {
    const clock = new VirtualClock()
    let report: (health: RuntimeHealth | undefined) => void = () => {}
    const runtime = {
      watchHealth(next: typeof report) {
        report = next
        return Promise.resolve()
      },
    }
    const health = new RuntimeHealthMonitor({ clock, runtime })
    await health.run(() => {}, new AbortController().signal)
    for (const [afterMs, one] of reports) {
      await clock.advance(`${afterMs}ms`)
      report(one === 'nothing' ? undefined : one)
    }
    const { problems } = health
    const ready = nodeStatus(solo, undefined, { pressures: [], problems }, 0).conditions?.find(
      ({ type }) => type === 'Ready',
    )
    const unready = { status: 'False', reason: 'KubeletNotReady', message }
    const { status, reason, message: shown } = ready ?? {}
    deepEqual(
      { status, reason, message: shown },
      message === '' ? { status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' } : unready,
    )
  })

test('a node without a pod network is not ready and starts its pods when the network is ready', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  const ctx = context(new AbortController().signal)
  const { runtime, start } = soloNode(cluster)
  const tasks = start()
  await clock.advance('5s')
  const ready = async () => {
    const { status, spec } = await client.of(node).get('solo', '', ctx)
    const found = status.conditions?.find(({ type }) => type === 'Ready')
    return [found?.status, found?.message, [...new Set(spec?.taints?.map(({ key }) => key))].join()]
  }
  deepEqual(await ready(), ['True', 'kubelet is posting ready status', ''])
  runtime.setHealth(noNetwork)
  await clock.advance('5s')
  deepEqual(await ready(), ['False', networkText, 'node.kubernetes.io/not-ready'])
  const spec = { nodeName: 'solo', containers: [{ name: 'c', image: 'i' }] }
  await client.of(pod).create({ metadata: { name: 'p' }, spec }, 'default', ctx)
  const host = { ...spec, hostNetwork: true }
  await client.of(pod).create({ metadata: { name: 'on-the-host' }, spec: host }, 'default', ctx)
  await clock.advance('5s')
  const phase = async (name: string) => (await client.of(pod).get(name, 'default', ctx)).status.phase
  deepEqual([await phase('p'), await phase('on-the-host')], ['Pending', 'Running'])
  runtime.setHealth(well)
  await clock.advance('1m')
  deepEqual(await ready(), ['True', 'kubelet is posting ready status', ''])
  equal(await phase('p'), 'Running')
  const recorded = (await client.of(event).list({}, ctx)).items.map(
    ({ reason = '', message = '' }) => `${reason}: ${message}`,
  )
  for (const text of [
    /^NodeNotReady: Node solo status is now: NodeNotReady$/m,
    /^NodeReady: Node solo status is now: NodeReady$/m,
    /^NetworkNotReady: network is not ready: container runtime network not ready: NetworkReady=false/m,
  ])
    match(recorded.join('\n'), text)
  tasks.stop()
  await tasks.join()
})

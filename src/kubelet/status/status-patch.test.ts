import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { podStatus, type PodStatus } from '../../api/core/v1/pod/pod-status.ts'
import { startCluster } from '../../cluster/testing/start-cluster.ts'
import type { JsonObject } from '../../schema/json/json-value.ts'
import { strategicMerge } from '../../schema/patch/strategic-merge.ts'
import { solo, soloNode } from '../solo.harness.ts'
import { statusPatch } from './status-patch.ts'

const ctx = context(new AbortController().signal)
const json = (status: Partial<PodStatus>) => status as unknown as JsonObject
const ready = { type: 'Ready', status: 'True' }
const unready = { type: 'Ready', status: 'False', reason: 'ContainersNotReady', message: 'm' }
const scheduled = { type: 'PodScheduled', status: 'True' }
const gate = { type: 'example.com/gate', status: 'True' }
const pending = { type: 'PodResizePending', status: 'True' }

/** The status known to the kubelet, the new status, the stored status, and the result. */
const cases: [why: string, known: object, wanted: object, live: object, outcome: object][] = [
  [
    'fields are added, changed and removed',
    { phase: 'Pending', reason: 'r' },
    { phase: 'Running', podIP: '10.0.0.1' },
    { phase: 'Pending', reason: 'r' },
    { phase: 'Running', podIP: '10.0.0.1' },
  ],
  [
    'a condition that another client has set meanwhile is kept',
    { conditions: [scheduled, unready] },
    { conditions: [scheduled, ready] },
    { conditions: [scheduled, unready, gate] },
    { conditions: [scheduled, ready, gate] },
  ],
  [
    'a condition that another client has changed meanwhile is kept',
    { conditions: [{ ...gate, status: 'False' }, unready] },
    { conditions: [{ ...gate, status: 'False' }, ready] },
    { conditions: [gate, unready] },
    { conditions: [gate, ready] },
  ],
  [
    'conditions have the kubelet’s order',
    { conditions: [scheduled] },
    { conditions: [ready, scheduled] },
    { conditions: [scheduled] },
    { conditions: [ready, scheduled] },
  ],
  [
    'a condition of the kubelet is removed, and an unknown one is kept',
    { conditions: [pending, gate] },
    { conditions: [] },
    { conditions: [pending, gate] },
    { conditions: [gate] },
  ],
  [
    'lists and objects that would be merged are replaced',
    { podIPs: [{ ip: '10.0.0.1' }], resources: { limits: { cpu: '1', memory: '1' } } },
    { podIPs: [{ ip: '10.0.0.2' }], resources: { limits: { cpu: '2' } } },
    { podIPs: [{ ip: '10.0.0.1' }], resources: { limits: { cpu: '1', memory: '1' } } },
    { podIPs: [{ ip: '10.0.0.2' }], resources: { limits: { cpu: '2' } } },
  ],
]
for (const [why, known, wanted, live, outcome] of cases)
  test(`the patch of a status: ${why}`, () => {
    const patch = statusPatch(known, wanted)
    deepEqual(strategicMerge(podStatus, json(live), patch), outcome)
  })

test('a readiness gate that is set during a status update is kept', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const pods = cluster.client.of(pod)
  const gateType = 'example.com/gate'
  const open = { status: { conditions: [{ type: gateType, status: 'True' as const }] } }
  let isOpened = false
  // Another client changes the status between the kubelet's read and its write.
  const between = new Proxy(pods, {
    get(target, name) {
      if (name === 'patch')
        return async (...args: Parameters<typeof pods.patch>) => {
          if (!isOpened) await pods.patch('p', 'default', open, 'strategic', ctx, 'status')
          isOpened = true
          return target.patch(...args)
        }
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  const client = new Proxy(cluster.client, {
    get: (target, name) =>
      name === 'of' ? (kind: typeof pod) => (kind === pod ? between : target.of(kind)) : undefined,
  })
  await using tasks = soloNode({ clock: cluster.clock, client }).start()
  const spec = {
    nodeName: solo.name,
    readinessGates: [{ conditionType: gateType }],
    containers: [{ name: 'c', image: 'tested' }],
  }
  await pods.create({ metadata: { name: 'p' }, spec }, 'default', ctx)
  await cluster.clock.advance('30s')
  const { conditions = [] } = (await pods.get('p', 'default', ctx)).status
  deepEqual(
    conditions.filter(({ type }) => type === gateType || type === 'Ready').map(({ status }) => status),
    ['True', 'True'],
  )
  tasks.stop()
})

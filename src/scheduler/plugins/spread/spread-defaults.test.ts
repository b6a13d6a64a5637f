// Default spreading for pods without constraints: pods of the same services and workloads are spread by the system's
// constraints or by those of the profile.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../base/observability/log.ts'
import { seededRandom } from '../../../base/random/random.ts'
import { TaskGroup } from '../../../base/async/task-group.ts'
import { VirtualClock } from '../../../base/time/virtual-clock.ts'
import { replicaSet } from '../../../api/apps/v1/replica-set.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import { service } from '../../../api/core/v1/service/service.ts'
import { Client } from '../../../client/client.ts'
import { Informers } from '../../../client/informer/informers.ts'
import type { PluginDeps } from '../../framework/framework.ts'
import { aNode, aPod, made, scoresOf, snapshotOf, standing, verdictsOf } from '../../scheduler.harness.ts'
import { podTopologySpread } from './pod-topology-spread.ts'

const zone = 'topology.kubernetes.io/zone'
const nodes = [aNode('a', {}, undefined, { [zone]: 'x' }), aNode('b', {}, undefined, { [zone]: 'y' })]
const web = (name: string, spec: object = {}, labels: object = { app: 'web' }, owner?: object) =>
  aPod(name, spec, {}, { labels, ...(owner && { ownerReferences: [owner] }) })
const setOwner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'set', uid: 'u', controller: true }
const byService = [made(service, 'web', { spec: { selector: { app: 'web' } } })]
const bySet = [made(replicaSet, 'set', { spec: { selector: { matchLabels: { app: 'web' } }, template: {} } })]
const hard = { topologyKey: zone, whenUnsatisfiable: 'DoNotSchedule', maxSkew: 1 }
const list = { defaultingType: 'List', defaultConstraints: [hard] }
const own = {
  topologySpreadConstraints: [{ ...hard, maxSkew: 9, labelSelector: { matchLabels: { app: 'web' } } }],
}
const beyond = "node(s) didn't match pod topology spread constraints"

/** The plugin's scores of both nodes when a similar pod is on node a. */
async function resultOf(args: unknown, objects: Parameters<typeof standing>[0], target: Pod) {
  await using tasks = new TaskGroup()
  const clock = new VirtualClock()
  const informers = new Informers(
    new Client(standing(objects)),
    { clock, random: seededRandom(1), log: silentLog },
    tasks,
  )
  for (const kind of podTopologySpread.watches ?? []) informers.of(kind)
  await clock.settle()
  await informers.synced()
  const deps = { informers } as Partial<PluginDeps> as PluginDeps
  const plugin = { ...podTopologySpread, ...podTopologySpread.configure?.(args, deps) }
  const snapshot = snapshotOf(nodes, [[web('other'), 'a']])
  return { verdicts: verdictsOf(plugin, target, snapshot), scores: scoresOf(plugin, target, snapshot) }
}

const fits = { a: 'fits', b: 'fits' }
/** By host and by zone: a has 2 × ln 4 + 2 + 4, rounded 9, b has 2 + 4; 100 × (9 + 6 − 9) / 9 = 66. */
const spreadScores = { a: 66, b: 100 }
const rows: readonly [
  why: string,
  args: unknown,
  objects: Parameters<typeof standing>[0],
  target: Pod,
  verdicts: object,
  scores: object | undefined,
][] = [
  ['the system defaults apply to pods of a Service', undefined, byService, web('p'), fits, spreadScores],
  [
    'the system defaults apply to pods of a ReplicaSet',
    undefined,
    bySet,
    web('p', {}, { app: 'web' }, setOwner),
    fits,
    spreadScores,
  ],
  [
    'the system defaults do not apply to a pod without Service or workload',
    undefined,
    byService,
    web('p', {}, { app: 'db' }),
    fits,
    undefined,
  ],
  [
    'the constraints of the profile replace the system defaults',
    list,
    byService,
    web('p'),
    { a: beyond, b: 'fits' },
    undefined,
  ],
  [
    'the constraints of the profile do not apply to a pod without Service or workload',
    list,
    [],
    web('p'),
    fits,
    undefined,
  ],
  ['the constraints of the pod replace the defaults', list, byService, web('p', own), fits, undefined],
  [
    'an empty list in the profile disables the defaults',
    { defaultingType: 'List' },
    byService,
    web('p'),
    fits,
    undefined,
  ],
]
for (const [why, args, objects, target, verdicts, scores] of rows)
  test(`default spreading: ${why}`, async () => deepEqual(await resultOf(args, objects, target), { verdicts, scores }))

// Pod cgroups, OOM scores, allocatable resources and resize decisions.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { SimulatedCgroups } from '../../machine/cgroups/simulated-cgroups.ts'
import { decode } from '../../schema/decoding/decode.ts'
import { withDefaults } from '../../schema/decoding/defaults.ts'
import { linuxResources } from './linux-resources.ts'
import { parseThresholds } from '../eviction/thresholds.ts'
import { allocatableOf } from '../node/allocatable.ts'
import { podCgroup, podCgroupLimits, PodCgroups } from './pod-cgroups.ts'
import { withAllocatedResources, evaluateResize, needsRestart, resizedContainers } from './resize.ts'

const aPod = (resources: object[], more: object = {}, uid = 'u'): Pod => {
  const containers = resources.map((one, index) => ({ name: `c${index}`, image: 'i', resources: one }))
  const body = { metadata: { name: 'p', namespace: 'default', uid }, spec: { containers, ...more } }
  return pod.applyDefaults(withDefaults(pod.message, decode(pod.message, body).value as unknown as Pod))
}
const amounts = (cpu: string, memory: string) => ({ cpu, memory })
const guaranteed = { limits: amounts('500m', '64Mi') }
const burstable = { requests: { cpu: '250m' } }

const groups: [what: string, pod: Pod, path: string, limits: object][] = [
  [
    'a guaranteed pod has the sum of its containers’ limits',
    aPod([guaranteed, guaranteed]),
    '/kubepods/podu',
    { cpuShares: 1024, cpuPeriodUs: 100_000, cpuQuotaUs: 100_000, memoryBytes: 128 << 20 },
  ],
  [
    'a burstable pod has no limit where a container has none',
    aPod([burstable, guaranteed]),
    '/kubepods/burstable/podu',
    { cpuShares: 768 },
  ],
  ['a pod without requests is best effort', aPod([{}]), '/kubepods/besteffort/podu', { cpuShares: 2 }],
  [
    'pod-level resources override the sum of the containers’',
    aPod([{}, {}], { resources: { requests: amounts('1', '1Gi'), limits: amounts('1', '1Gi') } }),
    '/kubepods/podu',
    { cpuShares: 1024, cpuPeriodUs: 100_000, cpuQuotaUs: 100_000, memoryBytes: 1 << 30 },
  ],
  [
    'huge pages are limited by their size',
    aPod([{ limits: { ...amounts('1', '1Gi'), 'hugepages-2Mi': '4Mi' } }]),
    '/kubepods/podu',
    {
      cpuShares: 1024,
      cpuPeriodUs: 100_000,
      cpuQuotaUs: 100_000,
      memoryBytes: 1 << 30,
      hugepageBytes: { '2MB': 4 << 20 },
    },
  ],
]
for (const [what, target, path, limits] of groups)
  test(`pod cgroups: ${what}`, () =>
    deepEqual([podCgroup('/kubepods', target), podCgroupLimits(target)], [path, limits]))

test('pod cgroups: the burstable class has the weight of its pods’ requests, and cgroups are removed with their pods', async () => {
  const cgroups = new SimulatedCgroups()
  const pods = new PodCgroups({ cgroups, root: '/kubepods', allocatable: amounts('4', '8Gi') })
  await pods.make(aPod([burstable]))
  await pods.make(aPod([burstable], {}, 'v'))
  await pods.make(aPod([{}], {}, 'w'))
  deepEqual(await cgroups.limits('/kubepods'), { cpuShares: 4096, memoryBytes: 8 * 1024 ** 3 })
  deepEqual(
    [await cgroups.limits('/kubepods/burstable'), await cgroups.limits('/kubepods/besteffort')],
    [{ cpuShares: 512 }, { cpuShares: 2 }],
  )
  for (const uid of ['u', 'w']) await pods.remove(uid)
  deepEqual(await cgroups.list('/kubepods/burstable'), ['podv'])
  deepEqual(
    [await cgroups.list('/kubepods/besteffort'), await cgroups.limits('/kubepods/burstable')],
    [[], { cpuShares: 256 }],
  )
})

const gib = 1024 ** 3
const scores: [what: string, pod: Pod, score: number][] = [
  ['guaranteed', aPod([guaranteed]), -997],
  ['no requests', aPod([{}]), 1000],
  ['a quarter of the node', aPod([{ requests: { memory: '1Gi' } }]), 750],
  ['a tiny request', aPod([{ requests: { memory: '1' } }]), 999],
  ['almost all', aPod([{ requests: { memory: '4Gi' } }]), 3],
  ['a share of the pod-level request', aPod([{}, {}], { resources: { requests: { memory: '2Gi' } } }), 750],
  ['a node-critical pod', aPod([{}], { priority: 2_000_001_000 }), -997],
]
for (const [what, { spec }, score] of scores)
  test(`OOM score: ${what}`, () => {
    const [container] = spec.containers
    equal(container && linuxResources(container, spec, 4 * gib).oomScoreAdjust, score)
  })

test('allocatable is the capacity minus reservations and hard thresholds', () => {
  const thresholds = parseThresholds({
    hard: 'memory.available<100Mi,nodefs.available<10%,pid.available<5%',
    soft: 'memory.available<1Gi',
    softGraceMs: new Map([['memory.available', 60_000]]),
    minimumReclaim: '',
  })
  const capacity = { cpu: '4', memory: '8Gi', 'ephemeral-storage': '100Gi', pods: '110' }
  deepEqual(allocatableOf(capacity, [{ cpu: '100m', memory: '1Gi' }, { cpu: '200m' }], thresholds), {
    cpu: '3700m',
    memory: '7068Mi',
    'ephemeral-storage': '90Gi',
    pods: '110',
  })
  deepEqual(allocatableOf({ memory: '1Gi' }, [{ memory: '2Gi' }], []), { memory: '0' })
})

const running = (spec: object, inForce: object, uid = 'u'): Pod => ({
  ...aPod([spec], {}, uid),
  status: {
    phase: 'Running',
    containerStatuses: [
      {
        name: 'c0',
        image: 'i',
        imageID: '',
        ready: true,
        restartCount: 0,
        state: {},
        lastState: {},
        resources: inForce,
      },
    ],
  },
})
const asks = (cpu: string, memory = '64Mi') => ({ requests: { cpu, memory } })
const allocatable = { cpu: '2', memory: '1Gi' }

const resizes: [what: string, pod: Pod, others: Pod[], verdict: string][] = [
  ['a resize that fits is granted', running(asks('1'), asks('500m')), [aPod([asks('1')], {}, 'v')], 'granted'],
  [
    'more than the capacity',
    running(asks('3'), asks('1')),
    [],
    "Infeasible Node didn't have enough capacity: cpu, requested: 3000, capacity: 2000",
  ],
  [
    'more than is free',
    running(asks('1500m'), asks('1')),
    [aPod([asks('1')], {}, 'v')],
    "Deferred Node didn't have enough resource: cpu, requested: 1500, used: 1000, capacity: 2000",
  ],
  [
    'memory is checked first',
    running(asks('3', '2Gi'), asks('1')),
    [],
    "Infeasible Node didn't have enough capacity: memory, requested: 2147483648, capacity: 1073741824",
  ],
  [
    'a pending resize of another pod does not count',
    running(asks('1'), asks('500m')),
    [running(asks('2'), asks('1'), 'v')],
    'granted',
  ],
]
for (const [what, target, others, wanted] of resizes)
  test(`resize: ${what}`, () => {
    const decision = evaluateResize(target, others, allocatable)
    equal(decision.kind === 'granted' ? 'granted' : `${decision.reason} ${decision.message}`, wanted)
  })

test('resize: resources in force stay allocated until the resize is granted, and the policy decides about restarts', () => {
  const target = running(asks('2'), asks('1'))
  deepEqual(
    resizedContainers(target).map(({ name }) => name),
    ['c0'],
  )
  deepEqual(withAllocatedResources(target).spec.containers[0]?.resources, asks('1'))
  deepEqual(resizedContainers(running(asks('1000m'), asks('1'))), [], 'the same amount in other words is no change')
  const restarts = (resourceName: string) =>
    target.spec.containers.map((container) =>
      needsRestart({ ...container, resizePolicy: [{ resourceName, restartPolicy: 'RestartContainer' }] }, asks('1')),
    )
  deepEqual([restarts('cpu'), restarts('memory')], [[true], [false]])
})

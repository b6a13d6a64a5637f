import { deepEqual, equal, match, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { idleLoad } from '../../machine/load/simulated-host-load.ts'
import { podCalled, nodeUnderPressure, type UsedBy } from './eviction.harness.ts'
import { amountOf, parseAmount, parseThresholds } from './thresholds.ts'

const none = { hard: '', soft: '', softGraceMs: new Map(), minimumReclaim: '' }

test('thresholds: quantities and percentages, hard and soft, with a minimum reclaim', () => {
  const found = parseThresholds({
    hard: 'memory.available<100Mi,nodefs.available<10%,imagefs.available<0%',
    soft: 'memory.available<1Gi',
    softGraceMs: new Map([['memory.available', 90_000]]),
    minimumReclaim: 'nodefs.available=1Gi',
  })
  deepEqual(
    found.map(({ signal, below, graceMs, reclaim }) => [signal, below.text, graceMs, reclaim?.text]),
    [
      ['memory.available', '1Gi', 90_000, undefined],
      ['memory.available', '100Mi', 0, undefined],
      ['nodefs.available', '10%', 0, '1Gi'],
    ],
  )
  deepEqual([amountOf(parseAmount('10%'), 1005), amountOf(parseAmount('1Ki'), 0)], [100, 1024])
})

const wrong: [texts: Partial<typeof none>, message: RegExp][] = [
  [{ hard: 'memory<1' }, /"memory<1" is not a threshold such as memory.available<100Mi/],
  [{ hard: 'memory.available<much' }, /"much" is neither a quantity nor a percentage/],
  [{ hard: 'memory.available<120%' }, /"120%" is not a percentage/],
  [{ hard: 'memory.available<1,memory.available<2' }, /memory.available is specified twice/],
  [{ soft: 'memory.available<1' }, /grace period must be specified for the soft eviction threshold memory.available/],
]
for (const [texts, message] of wrong)
  test(`thresholds: ${message.source}`, () => throws(() => parseThresholds({ ...none, ...texts }), message))

const mib = 1024 ** 2
const settings = (texts: Partial<typeof none>) => ({
  thresholds: parseThresholds({ ...none, ...texts }),
  pressureTransitionMs: 60_000,
  evictionPodGraceSecondsMax: 20,
})
const hardMemory = settings({ hard: 'memory.available<100Mi' })
const used = (memoryMib: number): UsedBy => ({ memoryBytes: memoryMib * mib })

test('memory: pods that exceed their requests are evicted first, then by priority, then by usage', async () => {
  const asked = { requests: { memory: '50Mi' } }
  await using node = nodeUnderPressure(
    [
      [podCalled('modest', {}, asked), used(40)],
      [podCalled('large'), used(30)],
      [podCalled('larger'), used(60)],
      [podCalled('important', { priority: 1000 }), used(90)],
      [podCalled('critical', { priority: 2_000_000_000 }), used(500)],
    ],
    hardMemory,
  )
  await node.clock.advance(5_000)
  equal(node.actions.length, 0)
  node.load({ memoryAvailableBytes: 90 * mib })
  await node.clock.advance(20_000)
  deepEqual(
    node.actions.filter((line) => line.startsWith('evict')).map((line) => line.split(' ')[1]),
    ['larger', 'large', 'important', 'modest'],
  )
  deepEqual(node.actions.slice(0, 3), [
    'conditions MemoryPressure',
    'reclaim memory',
    'evict larger in 1: The node was low on resource: memory. Threshold quantity: 100Mi, available: 90Mi. ' +
      'Container c was using 60Mi, request is 0, has larger consumption of memory. ',
  ])
})

test('memory: evictions stop when enough is available, and the condition is kept for the transition period', async () => {
  const pods = [[podCalled('a'), used(60)] as const, [podCalled('b'), used(30)] as const]
  await using node = nodeUnderPressure(pods, hardMemory, { memoryAvailableBytes: 90 * mib })
  await node.clock.advance(500)
  node.load({ memoryAvailableBytes: 150 * mib })
  await node.clock.advance(50_000)
  equal(node.actions.filter((line) => line.startsWith('evict')).length, 1)
  deepEqual(node.manager.conditions, ['MemoryPressure'])
  await node.clock.advance(30_000)
  deepEqual([node.manager.conditions, node.actions.at(-1)], [[], 'conditions '])
})

test('a soft threshold sets its condition at once, evicts after its grace period, and gives pods time', async () => {
  const soft = settings({
    soft: 'memory.available<1Gi',
    softGraceMs: new Map([['memory.available', 60_000]]),
  })
  await using node = nodeUnderPressure([[podCalled('a'), used(10)]], soft, { memoryAvailableBytes: 500 * mib })
  await node.clock.advance(55_000)
  deepEqual(node.actions, ['conditions MemoryPressure'])
  await node.clock.advance(10_000)
  equal(
    node.actions.some((line) => line.startsWith('evict a in 20: ')),
    true,
  )
})

test('a threshold with a minimum reclaim is met until that much more is available', async () => {
  const reclaims = settings({ hard: 'memory.available<100Mi', minimumReclaim: 'memory.available=50Mi' })
  const pods = ['a', 'b', 'c'].map((name) => [podCalled(name), used(10)] as const)
  await using node = nodeUnderPressure(pods, reclaims, { memoryAvailableBytes: 90 * mib })
  await node.clock.advance(500)
  node.load({ memoryAvailableBytes: 120 * mib })
  await node.clock.advance(1_000)
  node.load({ memoryAvailableBytes: 151 * mib })
  await node.clock.advance(60_000)
  equal(node.actions.filter((line) => line.startsWith('evict')).length, 2)
})

test('disk space is reclaimed first, and only if that is not enough pods are evicted, by disk usage', async () => {
  const full = { ...idleLoad.fileSystem, availableBytes: 5 * mib, capacityBytes: 100 * mib }
  const disk = settings({ hard: 'nodefs.available<10%' })
  const pods = [
    [podCalled('small'), { layerBytes: 1 * mib }],
    [podCalled('big'), { layerBytes: 50 * mib }],
  ] as const
  let frees = true
  await using node = nodeUnderPressure(
    pods,
    disk,
    {},
    {
      reclaimDisk: () => {
        node.actions.push('free disk')
        if (frees) node.load({ fileSystem: { ...full, availableBytes: 20 * mib } })
        return Promise.resolve()
      },
    },
  )
  node.load({ fileSystem: full })
  await node.clock.advance(15_000)
  deepEqual(node.actions, ['conditions DiskPressure', 'reclaim ephemeral-storage', 'free disk'])
  frees = false
  node.load({ fileSystem: full })
  await node.clock.advance(10_000)
  equal(
    node.actions.find((line) => line.startsWith('evict')),
    'evict big in 1: The node was low on resource: ephemeral-storage. Threshold quantity: 10Mi, available: 5Mi. ' +
      'Container c was using 50Mi, request is 0, has larger consumption of ephemeral-storage. ',
  )
})

const apart: [lack: string, signal: string, freed: string[], first: string][] = [
  ['of room for pods and logs', 'nodefs', [], 'chatty'],
  ['of room for images and containers', 'imagefs', ['free disk images containers'], 'fat'],
]
for (const [lack, signal, freed, first] of apart)
  test(`two file systems: a shortage ${lack} counts only what is stored there`, async () => {
    const full = { ...idleLoad.fileSystem, availableBytes: 5 * mib, capacityBytes: 100 * mib }
    const pods = [
      [podCalled('chatty'), { logBytes: 2 * mib, layerBytes: 1 * mib }],
      [podCalled('fat'), { logBytes: 1 * mib, layerBytes: 50 * mib }],
    ] as const
    await using node = nodeUnderPressure(
      pods,
      settings({ hard: `${signal}.available<10%` }),
      signal === 'nodefs'
        ? { fileSystem: full, imageFileSystem: { ...idleLoad.fileSystem, device: 2 } }
        : { imageFileSystem: { ...full, device: 2 } },
    )
    await node.clock.advance(100)
    deepEqual(
      node.actions.filter((line) => line.startsWith('free')),
      freed,
    )
    match(node.actions.find((line) => line.startsWith('evict')) ?? '', new RegExp(`^evict ${first} `))
  })

test('processes: the pod with the lowest priority is evicted', async () => {
  const pids = settings({ hard: 'pid.available<10' })
  const pods = [[podCalled('a', { priority: 5 }), {}] as const, [podCalled('b'), {}] as const]
  await using node = nodeUnderPressure(pods, pids, { processes: { max: 100, running: 95 } })
  await node.clock.advance(100)
  deepEqual(node.actions, [
    'conditions PIDPressure',
    'reclaim pids',
    'evict b in 1: The node was low on resource: pids. Threshold quantity: 10, available: 5. ',
  ])
})

const limits: [what: string, pod: ReturnType<typeof podCalled>, message: string][] = [
  [
    'a container that exceeds its limit',
    podCalled('a', {}, { limits: { 'ephemeral-storage': '1Mi' } }),
    'evict a in 1: Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. ',
  ],
  [
    'one of two containers that exceeds its limit',
    podCalled('a', {
      containers: [
        { name: 'c', image: 'i', resources: { limits: { 'ephemeral-storage': '1Mi' } } },
        { name: 'd', image: 'i' },
      ],
    }),
    'evict a in 1: Container c exceeded its local ephemeral storage limit "1Mi". ',
  ],
]
for (const [what, target, message] of limits)
  test(`disk limits: ${what}`, async () => {
    await using node = nodeUnderPressure([[target, { layerBytes: 2 * mib }]], settings({}))
    await node.clock.advance(100)
    deepEqual(node.actions, [message])
  })

test('under memory pressure only pods with requests are admitted, under other pressure only critical ones', async () => {
  await using node = nodeUnderPressure([], settings({ hard: 'memory.available<100Mi,pid.available<10' }), {
    memoryAvailableBytes: 0,
  })
  await node.clock.advance(100)
  const bound = podCalled('bound', {}, { requests: { memory: '1Mi' } })
  const toleration = { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' }
  equal(node.manager.rejection(podCalled('a')), 'The node had condition: [MemoryPressure]. ')
  deepEqual(
    [node.manager.rejection(bound), node.manager.rejection(podCalled('t', { tolerations: [toleration] }))],
    [undefined, undefined],
  )
  node.load({ processes: { max: 100, running: 95 } })
  await node.clock.advance(10_000)
  equal(node.manager.rejection(bound), 'The node had condition: [MemoryPressure PIDPressure]. ')
  equal(node.manager.rejection(podCalled('c', { priority: 2_000_000_000 })), undefined)
})

// Decision tables of device allocation: whole devices, partitions and shares.
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { deviceClass } from '../../../api/resource/v1/device-class.ts'
import { resourceClaim, type ResourceClaim } from '../../../api/resource/v1/resource-claim.ts'
import { resourceSlice } from '../../../api/resource/v1/resource-slice.ts'
import { withTimeLimit } from '../../../base/work/time-limit.harness.ts'
import { aNode, made as object } from '../../scheduler.harness.ts'
import { allocate, AllocatedDevices, claimSizeProblem } from './device-allocation.ts'
import { SearchBudget, SearchTimeout } from './search-budget.ts'

const n = aNode('n')
const device = (name: string, extra: object = {}) => ({ name, ...extra })
const slice = (devices: object[], spec: object = {}) =>
  object(resourceSlice, 's', {
    spec: { driver: 'd', pool: { name: 'p', generation: 1, resourceSliceCount: 1 }, nodeName: 'n', devices, ...spec },
  })
const claimFor = (requests: object[], extra: object = {}): ResourceClaim =>
  object(resourceClaim, 'c', { spec: { devices: { requests, ...extra } } })
const exactly = (name: string, extra: object = {}) => ({ name, exactly: { deviceClassName: 'x', ...extra } })
const model = (string: string) => ({ attributes: { 'd/model': { string } } })
const selecting = (expression: string) => ({ selectors: [{ cel: { expression } }] })
const tainted = { taints: [{ key: 'k', effect: 'NoSchedule' }] }

const allocations: readonly [
  why: string,
  claim: ResourceClaim,
  devices: object[],
  taken: string[],
  got: string[] | undefined,
][] = [
  ['one of two devices', claimFor([exactly('r')]), [device('a'), device('b')], [], ['r a']],
  ['the device that is free', claimFor([exactly('r')]), [device('a'), device('b')], ['d/p/a'], ['r b']],
  ['no device is free', claimFor([exactly('r')]), [device('a')], ['d/p/a'], undefined],
  [
    'two devices for a count of 2',
    claimFor([exactly('r', { count: 2 })]),
    [device('a'), device('b')],
    [],
    ['r a', 'r b'],
  ],
  [
    'a count above the number of devices',
    claimFor([exactly('r', { count: 3 })]),
    [device('a'), device('b')],
    [],
    undefined,
  ],
  [
    'allocationMode All',
    claimFor([exactly('r', { allocationMode: 'All' })]),
    [device('a'), device('b')],
    [],
    ['r a', 'r b'],
  ],
  [
    'allocationMode All with one device in use',
    claimFor([exactly('r', { allocationMode: 'All' })]),
    [device('a'), device('b')],
    ['d/p/b'],
    undefined,
  ],
  [
    'two requests get two devices',
    claimFor([exactly('r'), exactly('s')]),
    [device('a'), device('b')],
    [],
    ['r a', 's b'],
  ],
  [
    'the first alternative that is available',
    claimFor([
      {
        name: 'r',
        firstAvailable: [
          { name: 'many', deviceClassName: 'x', count: 5 },
          { name: 'few', deviceClassName: 'x' },
        ],
      },
    ]),
    [device('a')],
    [],
    ['r/few a'],
  ],
  [
    'matchAttribute: the first candidate is revised',
    claimFor([exactly('r', { count: 2 })], { constraints: [{ matchAttribute: 'd/model' }] }),
    [device('a', model('1')), device('b', model('2')), device('c', model('2'))],
    [],
    ['r b', 'r c'],
  ],
  ['a tainted device', claimFor([exactly('r')]), [device('a', tainted)], [], undefined],
  [
    'a tolerated taint',
    claimFor([exactly('r', { tolerations: [{ key: 'k', operator: 'Exists' }] })]),
    [device('a', tainted)],
    [],
    ['r a'],
  ],
  [
    'a selector chooses the device',
    claimFor([exactly('r', selecting(`device.attributes['d'].model == '2'`))]),
    [device('a', model('1')), device('b', model('2'))],
    [],
    ['r b'],
  ],
  [
    'a selector that no device meets',
    claimFor([exactly('r', selecting(`device.driver == 'other'`))]),
    [device('a', model('1'))],
    [],
    undefined,
  ],
  [
    'adminAccess gets a device that is in use',
    claimFor([exactly('r', { adminAccess: true })]),
    [device('a')],
    ['d/p/a'],
    ['r a'],
  ],
]
const newShareId = () => 'share'
const budget = () => new SearchBudget(1)

/** Devices of pool p in use, each with the consumed capacity. */
function having(ids: readonly string[], consumedCapacity: Record<string, string> = {}): AllocatedDevices {
  const taken = new AllocatedDevices()
  for (const id of ids) {
    const [driver = '', pool = '', name = ''] = id.split('/')
    taken.add({ devices: { results: [{ request: 'r', driver, pool, device: name, consumedCapacity }] } })
  }
  return taken
}

const anyClass = () => object(deviceClass, 'x', { spec: {} })
for (const [why, wanted, devices, taken, got] of allocations)
  test(`devices: ${why}`, () => {
    const found = allocate(
      [wanted],
      n,
      [slice(devices)],
      having(taken),
      { classOf: anyClass, newShareId },
      budget(),
    )?.get('default/c')
    deepEqual(
      found?.devices.results?.map(({ request, device: name }) => `${request} ${name}`),
      got,
    )
  })

test('devices: the selectors of the class apply, and a missing attribute is an error', () => {
  const devices = [slice([device('a', model('1')), device('b')])]
  const allocatedBy = (expression: string) => () => {
    const byClass = () => object(deviceClass, 'x', { spec: selecting(expression) })
    return allocate(
      [claimFor([exactly('r')])],
      n,
      devices,
      having([]),
      { classOf: byClass, newShareId },
      budget(),
    )?.get('default/c')?.devices.results
  }
  equal(allocatedBy(`device.attributes['d'].?model.orValue('') == '1'`)()?.[0]?.device, 'a')
  throws(
    allocatedBy(`device.attributes['d'].model == '2'`),
    /class x: selector #0: CEL runtime error: no such key: model/,
  )
})

test('devices: slices of other nodes, old generations and incomplete pools are ignored', () => {
  const got = (spec: object) =>
    allocate(
      [claimFor([exactly('r')])],
      n,
      [slice([device('a')], spec)],
      having([]),
      { classOf: anyClass, newShareId },
      budget(),
    )
  equal(got({ nodeName: 'm' }), undefined)
  equal(got({ pool: { name: 'p', generation: 1, resourceSliceCount: 2 } }), undefined)
  equal(got({ nodeName: undefined, allNodes: true })?.get('default/c')?.nodeSelector, undefined)
  deepEqual(got({})?.get('default/c')?.nodeSelector?.nodeSelectorTerms[0]?.matchFields?.[0]?.values, ['n'])
})

const other = [{ counterSet: 'none', counters: { memory: { value: '1' } } }]
const whole = (value: string) => device('nic', { capacity: { bandwidth: { value } } })
const drawing = (name: string, memory: string, extra: object = {}) =>
  device(name, { consumesCounters: [{ counterSet: 'gpu', counters: { memory: { value: memory } } }], ...extra })
const twoSlices = { name: 'p', generation: 1, resourceSliceCount: 2 }
const partitions = (...devices: object[]) => [
  slice(devices, { pool: twoSlices }),
  slice([], { pool: twoSlices, sharedCounters: [{ name: 'gpu', counters: { memory: { value: '8Gi' } } }] }),
]

const partitioned: readonly [
  why: string,
  devices: object[],
  taken: string[],
  count: number,
  got: string[] | undefined,
][] = [
  ['two that fit together', [drawing('a', '4Gi'), drawing('b', '4Gi')], [], 2, ['a', 'b']],
  ['two that exceed the counter together', [drawing('a', '6Gi'), drawing('b', '6Gi')], [], 2, undefined],
  [
    'two of three that fit together',
    [drawing('a', '6Gi'), drawing('b', '6Gi'), drawing('c', '2Gi')],
    [],
    2,
    ['a', 'c'],
  ],
  ['the whole device is in use', [drawing('whole', '8Gi'), drawing('half', '4Gi')], ['d/p/whole'], 1, undefined],
  ['one half is in use', [drawing('whole', '8Gi'), drawing('a', '4Gi'), drawing('b', '4Gi')], ['d/p/a'], 1, ['b']],
  ['a counter set that does not exist', [drawing('a', '1', { consumesCounters: other })], [], 1, undefined],
]
for (const [why, devices, taken, count, got] of partitioned)
  test(`devices that consume counters of their pool: ${why}`, () => {
    const deps = { classOf: anyClass, newShareId }
    const found = allocate(
      [claimFor([exactly('r', { count })])],
      n,
      partitions(...devices),
      having(taken),
      deps,
      budget(),
    )
    deepEqual(
      found?.get('default/c')?.devices.results?.map((result) => result.device),
      got,
    )
  })

const card = (policy?: object) =>
  device('nic', {
    allowMultipleAllocations: true,
    capacity: { bandwidth: { value: '10Gi', ...(policy && { requestPolicy: policy }) } },
  })
const range = { default: '1Gi', validRange: { min: '1Gi', step: '2Gi', max: '7Gi' } }
const asking = (bandwidth?: string, count = 1) =>
  exactly('r', { count, ...(bandwidth && { capacity: { requests: { bandwidth } } }) })

const shared: readonly [why: string, device: object, request: object, taken: string, got: string[] | undefined][] = [
  ['the requested amount', card(), asking('4Gi'), '', ['4Gi']],
  ['the whole capacity without a request', card(), asking(), '', ['10Gi']],
  ['the default of the request policy', card(range), asking(), '', ['1Gi']],
  ['the minimum of the range', card(range), asking('1Mi'), '', ['1Gi']],
  ['a request is rounded up to the next step of the range', card(range), asking('4Gi'), '', ['5Gi']],
  ['a request above the range', card(range), asking('8Gi'), '', undefined],
  [
    'a request is rounded up to the next valid value',
    card({ default: '2Gi', validValues: ['2Gi', '6Gi'] }),
    asking('3Gi'),
    '',
    ['6Gi'],
  ],
  [
    'a request above every valid value',
    card({ default: '2Gi', validValues: ['2Gi', '6Gi'] }),
    asking('7Gi'),
    '',
    undefined,
  ],
  ['a request that equals the remaining capacity', card(), asking('4Gi'), '6Gi', ['4Gi']],
  ['a request above the remaining capacity', card(), asking('5Gi'), '6Gi', undefined],
  ['two shares of one device', card(), asking('5Gi', 2), '', ['5Gi', '5Gi']],
  ['two shares that exceed the capacity', card(), asking('6Gi', 2), '', undefined],
  [
    'a capacity that the device does not have',
    device('nic', { allowMultipleAllocations: true }),
    asking('1'),
    '',
    undefined,
  ],
  ['an unshared device with enough capacity', whole('10Gi'), asking('4Gi'), '', ['whole']],
  ['an unshared device with too little capacity', whole('1Gi'), asking('4Gi'), '', undefined],
]
for (const [why, offered, request, taken, got] of shared)
  test(`devices that are shared by capacity: ${why}`, () => {
    const others = taken === '' ? having([]) : having(['d/p/nic'], { bandwidth: taken })
    const deps = { classOf: anyClass, newShareId }
    const found = allocate([claimFor([request])], n, [slice([offered])], others, deps, budget())?.get('default/c')
    deepEqual(
      found?.devices.results?.map(({ shareID, consumedCapacity }) =>
        shareID === undefined ? 'whole' : consumedCapacity?.['bandwidth'],
      ),
      got,
    )
  })

const named = (count: number, extra: (index: number) => object = () => ({})) =>
  Array.from({ length: count }, (_, index) => device(`d${index}`, extra(index)))
const none = exactly('none', selecting(`device.driver == 'other'`))
// Every combination of sixteen devices has to be tried before the second request, which no device meets, is known to fail.
const endless: readonly [why: string, claim: ResourceClaim, devices: object[]][] = [
  ['16 of 32 devices, and one that does not exist', claimFor([exactly('r', { count: 16 }), none]), named(32)],
  [
    '16 of 32 devices of different models',
    claimFor([exactly('r', { count: 16 })], { constraints: [{ distinctAttribute: 'd/model' }] }),
    named(32, (index) => model(String(index % 15))),
  ],
  [
    '17 of 32 devices with a counter for 16',
    claimFor([exactly('r', { count: 17 })]),
    named(32, () => ({ consumesCounters: [{ counterSet: 'gpu', counters: { memory: { value: '512Mi' } } }] })),
  ],
]
for (const [why, claim, devices] of endless)
  test(`the search for devices ends: ${why}`, () => {
    const deps = { classOf: anyClass, newShareId }
    const search = () => allocate([claim], n, partitions(...devices), having([]), deps, budget())
    throws(() => withTimeLimit(search), SearchTimeout)
  })

test('16 of 32 devices that are all in use need no search', () => {
  const claim = claimFor([exactly('r', { count: 16 })])
  const taken = having(named(17).map(({ name }) => `d/p/${name}`))
  const deps = { classOf: anyClass, newShareId }
  const search = () => allocate([claim], n, [slice(named(32))], taken, deps, budget())
  equal(withTimeLimit(search), undefined)
})

test('selectors count by their cost, and their results are not paid for twice', () => {
  const costly = selecting(`[${Array.from({ length: 40 }, () => '1').join(',')}].all(i, device.driver.size() < 100)`)
  const deps = { classOf: anyClass, newShareId }
  const slices = [slice(named(128)), slice(named(128), { pool: { name: 'q', generation: 1, resourceSliceCount: 1 } })]
  const few = (steps: number) => ({ spend: (spent: number) => void ((steps -= spent) < 0 && throwTimeout()) })
  const search = (steps: number) =>
    allocate([claimFor([exactly('r', costly)])], n, slices, having([]), deps, few(steps) as SearchBudget)
  throws(() => search(1_000), SearchTimeout)
  for (let attempt = 0; attempt < 100; attempt++)
    try {
      return equal(search(1_000)?.get('default/c')?.devices.results?.length, 1)
    } catch (error) {
      if (!(error instanceof SearchTimeout)) throw error
    }
  throw new Error('the search gets no further')
})

function throwTimeout(): never {
  throw new SearchTimeout()
}

const sizes: readonly [why: string, requests: object[], problem: string | undefined][] = [
  ['32 devices', [exactly('r', { count: 16 }), exactly('s', { count: 16 })], undefined],
  [
    '33 devices',
    [exactly('r', { count: 16 }), exactly('s', { count: 17 })],
    'claim default/c: number of requested devices 33 exceeds the claim limit of 32',
  ],
  [
    'the largest count',
    [exactly('r', { count: 9_007_199_254_740_991 })],
    'claim default/c: number of requested devices 9007199254740991 exceeds the claim limit of 32',
  ],
  [
    'an alternative below the limit',
    [
      {
        name: 'r',
        firstAvailable: [
          { name: 'many', deviceClassName: 'x', count: 64 },
          { name: 'few', deviceClassName: 'x' },
        ],
      },
    ],
    undefined,
  ],
]
for (const [why, requests, problem] of sizes)
  test(`the size of a claim: ${why}`, () => equal(claimSizeProblem(claimFor(requests)), problem))

test('one shareable device without capacity does not give more shares than a claim may have', () => {
  const free = device('nic', { allowMultipleAllocations: true })
  const deps = { classOf: anyClass, newShareId }
  const claim = claimFor([
    exactly('r', { count: 20 }),
    exactly('s', { allocationMode: 'All' }),
    exactly('t', { count: 12 }),
  ])
  equal(allocate([claim], n, [slice([free])], having([]), deps, budget()), undefined)
})

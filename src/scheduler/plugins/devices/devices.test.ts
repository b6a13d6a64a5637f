// Decision tables of device allocation: whole devices, partitions and shares.
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { deviceClass } from '../../../api/resource/v1/device-class.ts'
import { resourceClaim, type ResourceClaim } from '../../../api/resource/v1/resource-claim.ts'
import { resourceSlice } from '../../../api/resource/v1/resource-slice.ts'
import { aNode, made as object } from '../../scheduler.harness.ts'
import { allocate, AllocatedDevices } from './device-allocation.ts'

const n = aNode('n')
const device = (name: string, extra: object = {}) => ({ name, ...extra })
const slice = (devices: object[], spec: object = {}) =>
  object(resourceSlice, 's', {
    spec: { driver: 'd', pool: { name: 'p', generation: 1, resourceSliceCount: 1 }, nodeName: 'n', devices, ...spec },
  })
const wants = (requests: object[], extra: object = {}): ResourceClaim =>
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
  ['one of several', wants([exactly('r')]), [device('a'), device('b')], [], ['r a']],
  ['one that is free', wants([exactly('r')]), [device('a'), device('b')], ['d/p/a'], ['r b']],
  ['none is free', wants([exactly('r')]), [device('a')], ['d/p/a'], undefined],
  ['several', wants([exactly('r', { count: 2 })]), [device('a'), device('b')], [], ['r a', 'r b']],
  ['more than there are', wants([exactly('r', { count: 3 })]), [device('a'), device('b')], [], undefined],
  ['all', wants([exactly('r', { allocationMode: 'All' })]), [device('a'), device('b')], [], ['r a', 'r b']],
  [
    'all, but one is taken',
    wants([exactly('r', { allocationMode: 'All' })]),
    [device('a'), device('b')],
    ['d/p/b'],
    undefined,
  ],
  ['two requests get two devices', wants([exactly('r'), exactly('s')]), [device('a'), device('b')], [], ['r a', 's b']],
  [
    'the first way that works',
    wants([
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
    'devices with a matching attribute: the first choice is taken back',
    wants([exactly('r', { count: 2 })], { constraints: [{ matchAttribute: 'd/model' }] }),
    [device('a', model('1')), device('b', model('2')), device('c', model('2'))],
    [],
    ['r b', 'r c'],
  ],
  ['a tainted device', wants([exactly('r')]), [device('a', tainted)], [], undefined],
  [
    'a tainted device, tolerated',
    wants([exactly('r', { tolerations: [{ key: 'k', operator: 'Exists' }] })]),
    [device('a', tainted)],
    [],
    ['r a'],
  ],
  [
    'what a selector means',
    wants([exactly('r', selecting(`device.attributes['d'].model == '2'`))]),
    [device('a', model('1')), device('b', model('2'))],
    [],
    ['r b'],
  ],
  [
    'what nothing meets',
    wants([exactly('r', selecting(`device.driver == 'other'`))]),
    [device('a', model('1'))],
    [],
    undefined,
  ],
  ['an administrator looks on', wants([exactly('r', { adminAccess: true })]), [device('a')], ['d/p/a'], ['r a']],
]
const newShareId = () => 'share'

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
    const found = allocate([wanted], n, [slice(devices)], having(taken), { classOf: anyClass, newShareId })?.get(
      'default/c',
    )
    deepEqual(
      found?.devices.results?.map(({ request, device: name }) => `${request} ${name}`),
      got,
    )
  })

test('devices: a class selects too, and who asks what a device does not say is told so', () => {
  const devices = [slice([device('a', model('1')), device('b')])]
  const asked = (expression: string) => () => {
    const byClass = () => object(deviceClass, 'x', { spec: selecting(expression) })
    return allocate([wants([exactly('r')])], n, devices, having([]), { classOf: byClass, newShareId })?.get('default/c')
      ?.devices.results
  }
  equal(asked(`device.attributes['d'].?model.orValue('') == '1'`)()?.[0]?.device, 'a')
  throws(asked(`device.attributes['d'].model == '2'`), /class x: selector #0: CEL runtime error: no such key: model/)
})

test('devices: slices of other nodes, old generations and incomplete pools do not count', () => {
  const got = (spec: object) =>
    allocate([wants([exactly('r')])], n, [slice([device('a')], spec)], having([]), { classOf: anyClass, newShareId })
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
  ['both fit', [drawing('a', '4Gi'), drawing('b', '4Gi')], [], 2, ['a', 'b']],
  ['together they are too large', [drawing('a', '6Gi'), drawing('b', '6Gi')], [], 2, undefined],
  ['another one is smaller', [drawing('a', '6Gi'), drawing('b', '6Gi'), drawing('c', '2Gi')], [], 2, ['a', 'c']],
  ['the whole is taken', [drawing('whole', '8Gi'), drawing('half', '4Gi')], ['d/p/whole'], 1, undefined],
  ['a half is taken', [drawing('whole', '8Gi'), drawing('a', '4Gi'), drawing('b', '4Gi')], ['d/p/a'], 1, ['b']],
  ['one that draws on a counter that is not there', [drawing('a', '1', { consumesCounters: other })], [], 1, undefined],
]
for (const [why, devices, taken, count, got] of partitioned)
  test(`devices that draw on counters of their pool: ${why}`, () => {
    const deps = { classOf: anyClass, newShareId }
    const found = allocate([wants([exactly('r', { count })])], n, partitions(...devices), having(taken), deps)
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
  ['as much as is asked for', card(), asking('4Gi'), '', ['4Gi']],
  ['all of it when nothing is said', card(), asking(), '', ['10Gi']],
  ['the default of the policy', card(range), asking(), '', ['1Gi']],
  ['the least of a range', card(range), asking('1Mi'), '', ['1Gi']],
  ['the next step of a range', card(range), asking('4Gi'), '', ['5Gi']],
  ['more than a range allows', card(range), asking('8Gi'), '', undefined],
  ['the next valid value', card({ default: '2Gi', validValues: ['2Gi', '6Gi'] }), asking('3Gi'), '', ['6Gi']],
  ['more than every valid value', card({ default: '2Gi', validValues: ['2Gi', '6Gi'] }), asking('7Gi'), '', undefined],
  ['what others have left', card(), asking('4Gi'), '6Gi', ['4Gi']],
  ['more than others have left', card(), asking('5Gi'), '6Gi', undefined],
  ['two shares of one device', card(), asking('5Gi', 2), '', ['5Gi', '5Gi']],
  ['two shares that are too large', card(), asking('6Gi', 2), '', undefined],
  ['a capacity that the device lacks', device('nic', { allowMultipleAllocations: true }), asking('1'), '', undefined],
  ['a whole device with enough capacity', whole('10Gi'), asking('4Gi'), '', ['whole']],
  ['a whole device with too little', whole('1Gi'), asking('4Gi'), '', undefined],
]
for (const [why, offered, request, taken, got] of shared)
  test(`devices that are shared out by capacity: ${why}`, () => {
    const others = taken === '' ? having([]) : having(['d/p/nic'], { bandwidth: taken })
    const deps = { classOf: anyClass, newShareId }
    const found = allocate([wants([request])], n, [slice([offered])], others, deps)?.get('default/c')
    deepEqual(
      found?.devices.results?.map(({ shareID, consumedCapacity }) =>
        shareID === undefined ? 'whole' : consumedCapacity?.['bandwidth'],
      ),
      got,
    )
  })

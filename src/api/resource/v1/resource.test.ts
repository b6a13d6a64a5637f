// Tables for devices: classes, claims and slices.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { cellsOf, objectFrom, testInvalidObjects, updateErrorsOf } from '../../kind/kind.harness.ts'
import { deviceClass } from './device-class.ts'
import { resourceClaimTemplate } from './resource-claim-template.ts'
import { resourceClaim } from './resource-claim.ts'
import { resourceSlice } from './resource-slice.ts'

const opaque = { driver: 'gpu.example.com', parameters: { kind: 'Config' } }
const exactly = { deviceClassName: 'gpu' }
const claimed = (devices: object): object => ({ spec: { devices } })
const requested = (request: object): object => claimed({ requests: [{ name: 'r', ...request }] })
const at = 'spec.devices.requests[0]'
const nameOfRequest =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"

testInvalidObjects(deviceClass, [
  ['selectors and configuration', { spec: { selectors: [{ cel: { expression: 'true' } }], config: [{ opaque }] } }, []],
  [
    'empty selectors and configuration',
    { spec: { selectors: [{}], config: [{}] } },
    ['spec.selectors[0].cel: Required value', 'spec.config[0].opaque: Required value'],
  ],
  [
    'configuration that is not an object',
    { spec: { config: [{ opaque: { driver: '', parameters: 5 } }] } },
    [
      'spec.config[0].opaque.driver: Required value',
      'spec.config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object',
    ],
  ],
  [
    'a resource that is not an extended one',
    { spec: { extendedResourceName: 'cpu' } },
    ['spec.extendedResourceName: Invalid value: "cpu": must be a valid extended resource name'],
  ],
  [
    'too many selectors',
    { spec: { selectors: Array.from({ length: 33 }, () => ({})) } },
    ['spec.selectors: Too many: 33: must have at most 32 items'],
  ],
])

testInvalidObjects(resourceClaim, [
  ['nothing', {}, []],
  ['one device', requested({ exactly }), []],
  ['one of several', requested({ firstAvailable: [{ name: 'a', ...exactly }] }), []],
  [
    'neither one nor several',
    requested({}),
    [`${at}: Required value: exactly one of \`exactly\` or \`firstAvailable\` is required`],
  ],
  [
    'one and several',
    requested({ exactly, firstAvailable: [{ name: 'a', ...exactly }] }),
    [
      `${at}: Invalid value: null: exactly one of \`exactly\` or \`firstAvailable\` is required, but multiple fields are set`,
    ],
  ],
  ['no class', requested({ exactly: {} }), [`${at}.exactly.deviceClassName: Required value`]],
  [
    'allocationMode All with a count',
    requested({ exactly: { ...exactly, allocationMode: 'All', count: 2 } }),
    [`${at}.exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'`],
  ],
  [
    'a negative count, and a value for the operator Exists',
    requested({ exactly: { ...exactly, count: -1, tolerations: [{ operator: 'Exists', value: 'v' }] } }),
    [
      `${at}.exactly.count: Invalid value: -1: must be greater than zero`,
      `${at}.exactly.tolerations[0].value: Invalid value: "v": must be empty for operator \`Exists\``,
    ],
  ],
  [
    'the same name twice',
    claimed({
      requests: [
        { name: 'r', exactly },
        { name: 'r', exactly },
      ],
    }),
    ['spec.devices.requests[1]: Duplicate value: "r"'],
  ],
  [
    'constraints on requests by their names',
    claimed({
      requests: [{ name: 'r', firstAvailable: [{ name: 'a', ...exactly }] }],
      constraints: [{ requests: ['r', 'r/a'], matchAttribute: 'gpu.example.com/model' }],
    }),
    [],
  ],
  [
    'constraints on unknown requests',
    claimed({ constraints: [{ requests: ['r'], matchAttribute: 'model' }, {}] }),
    [
      `spec.devices.constraints[0].requests[0]: Invalid value: "r": ${nameOfRequest}`,
      'spec.devices.constraints[0].matchAttribute: Invalid value: "model": a fully qualified name must be a domain and a name separated by a slash',
      'spec.devices.constraints[1]: Required value: exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set',
    ],
  ],
  [
    'a reservation without an allocation',
    { status: { reservedFor: [{ resource: 'pods', name: 'p' }] } },
    [
      'status.reservedFor[0].uid: Required value',
      'status.reservedFor: Forbidden: may not be specified when `allocated` is not set',
    ],
  ],
])

testInvalidObjects(resourceClaimTemplate, [
  ['a claim', { spec: { spec: { devices: { requests: [{ name: 'r', exactly }] } } } }, []],
  [
    'a claim that could not be',
    { spec: { metadata: { labels: { a: '!' } }, spec: { devices: { requests: [{ name: 'r' }] } } } },
    [/^spec\.metadata\.labels: Invalid value: "!"/, /^spec\.spec\.devices\.requests\[0\]: Required value: exactly one/],
  ],
])

const slice = { driver: 'gpu.example.com', pool: { name: 'p', resourceSliceCount: 1 }, nodeName: 'n' }
const sliced = (change: object): object => ({ spec: { ...slice, ...change } })
const offered = (device: object): object => sliced({ devices: [{ name: 'd', ...device }] })
const deviceAt = 'spec.devices[0]'

testInvalidObjects(resourceSlice, [
  ['no devices', sliced({}), []],
  ['a device', offered({ attributes: { model: { string: 'm' } }, capacity: { memory: { value: '1Gi' } } }), []],
  [
    'a slice without driver, pool and node',
    {},
    [
      'spec.driver: Required value',
      'spec.pool.name: Required value',
      'spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero',
      'spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required',
    ],
  ],
  [
    'nodeName and allNodes',
    sliced({ allNodes: true }),
    [
      'spec: Invalid value: "{`nodeName`, `allNodes`}": exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields are set',
    ],
  ],
  [
    'not all nodes',
    sliced({ allNodes: false }),
    ['spec.allNodes: Invalid value: false: must be either unset or set to true'],
  ],
  [
    'a device with its own node in a slice with a node',
    offered({ allNodes: true }),
    [
      `${deviceAt}: Invalid value: null: \`nodeName\`, \`nodeSelector\` and \`allNodes\` can only be set if \`perDeviceNodeSelection\` is set to true in the ResourceSlice spec`,
    ],
  ],
  [
    'a device without a node in a slice with node selection per device',
    { spec: { ...slice, nodeName: undefined, perDeviceNodeSelection: true, devices: [{ name: 'd' }] } },
    [/^spec\.devices\[0\]: Required value: exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when/],
  ],
  [
    'attributes with two values, an invalid version and an invalid name',
    offered({ attributes: { a: { int: 1, bool: true }, b: { version: '1' }, 'c-d': { int: 1 } } }),
    [
      `${deviceAt}.attributes[a]: Invalid value: {"int":1,"bool":true}: exactly one value must be specified`,
      `${deviceAt}.attributes[b].version: Invalid value: "1": must be a string compatible with semver.org spec 2.0.0`,
      /^spec\.devices\[0\]\.attributes: Invalid value: "c-d": a valid C identifier must start/,
    ],
  ],
  [
    'devices and counters in one slice',
    sliced({ devices: [{ name: 'd' }], sharedCounters: [{ name: 'c', counters: { m: { value: '1' } } }] }),
    ['spec: Invalid value: "": only one of `sharedCounters` or `devices` is allowed'],
  ],
  [
    'empty counters and a duplicate counter set',
    sliced({ sharedCounters: [{ name: 'c', counters: { m: { value: '1' } } }, { name: 'c' }] }),
    ['spec.sharedCounters[1].counters: Required value', 'spec.sharedCounters[1]: Duplicate value: "c"'],
  ],
  [
    'a condition that is both a binding and a failure condition',
    offered({ bindingConditions: ['a'], bindingFailureConditions: ['a'] }),
    [
      `${deviceAt}.bindingFailureConditions[0]: Invalid value: "a": bindingFailureConditions must not overlap with bindingConditions`,
    ],
  ],
  [
    'a request policy for a device that is not shared',
    offered({ capacity: { memory: { value: '1', requestPolicy: {} } } }),
    [`${deviceAt}.capacity[memory].requestPolicy: Forbidden: allowMultipleAllocations must be true`],
  ],
  ['a taint without effect', offered({ taints: [{ key: 'k' }] }), [`${deviceAt}.taints[0].effect: Required value`]],
])

test('a slice may contain fewer devices if they have taints', () => {
  const devices = (count: number, taints: object[]) =>
    sliced({ devices: Array.from({ length: count }, (_, index) => ({ name: `d${index}`, taints })) })
  const taints = [{ key: 'k', effect: 'NoSchedule' }]
  const countOf = (body: object) =>
    resourceSlice.validate(objectFrom(resourceSlice, body)).map(({ message }) => message)
  deepEqual(countOf(devices(65, [])), [])
  deepEqual(countOf(devices(65, taints)), ['Too many: 65: must have at most 64 items'])
})

test('a request is for one device by default', () => {
  const counts = [{}, { count: 2 }, { allocationMode: 'All' }].map((change) => {
    const [request] =
      objectFrom(resourceClaim, requested({ exactly: { ...exactly, ...change } })).spec.devices.requests ?? []
    return [request?.exactly?.allocationMode, request?.exactly?.count]
  })
  deepEqual(counts, [
    ['ExactCount', 1],
    ['ExactCount', 2],
    ['All', undefined],
  ])
})

test('the specs of claims and slices are immutable', () => {
  deepEqual(updateErrorsOf(resourceClaim, requested({ exactly }), requested({ exactly })), [])
  equal(updateErrorsOf(resourceClaim, requested({ exactly }), {}).length, 1)
  deepEqual(
    updateErrorsOf(resourceSlice, sliced({}), sliced({ nodeName: 'm', pool: { name: 'q', resourceSliceCount: 2 } })),
    ['spec.pool.name: Invalid value: "q": field is immutable', 'spec.nodeName: Invalid value: "m": field is immutable'],
  )
})

test('the cells of claims and slices', () => {
  const allocation = { devices: {} }
  const reservedFor = [{ resource: 'pods', name: 'p', uid: 'u' }]
  const states: [object, string][] = [
    [{}, 'pending'],
    [{ allocation }, 'allocated'],
    [{ allocation, reservedFor }, 'allocated,reserved'],
  ]
  for (const [status, text] of states) deepEqual(cellsOf(resourceClaim, { status }), ['x', text, '60s'])
  const metadata = { name: 'x', deletionTimestamp: '2030-01-01T00:00:30Z' }
  equal(cellsOf(resourceClaim, { metadata })[1], 'deleted')
  deepEqual(cellsOf(resourceSlice, sliced({})), ['x', 'n', 'gpu.example.com', 'p', '60s'])
})

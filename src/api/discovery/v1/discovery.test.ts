// Tables for EndpointSlice.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { cellsOf, objectFrom, testInvalidObjects, updateErrorsOf } from '../../kind/kind.harness.ts'
import { endpointSlice } from './endpoint-slice.ts'

const slice = { addressType: 'IPv4', endpoints: [{ addresses: ['10.1.2.3'] }], ports: [{ name: 'p', port: 80 }] }
const reaching = (changes: object) => ({ ...slice, endpoints: [{ ...slice.endpoints[0], ...changes }] })

test('a port is TCP and unnamed by default', () => {
  deepEqual(objectFrom(endpointSlice, { ...slice, ports: [{ port: 80 }] }).ports, [
    { name: '', protocol: 'TCP', port: 80 },
  ])
})

testInvalidObjects(endpointSlice, [
  ['valid', slice, []],
  ['a port that is zero', { ...slice, ports: [{ port: 0 }] }, []],
  ['no address type', { ...slice, addressType: '' }, ['addressType: Required value']],
  [
    'a type that does not exist',
    { ...slice, addressType: 'MAC' },
    ['addressType: Unsupported value: "MAC": supported values: "FQDN", "IPv4", "IPv6"'],
  ],
  [
    'no address',
    reaching({ addresses: [] }),
    ['endpoints[0].addresses: Required value: must contain at least 1 address'],
  ],
  [
    'an address of the other family',
    reaching({ addresses: ['fd00::1'] }),
    ['endpoints[0].addresses[0]: Invalid value: "fd00::1": must be a valid IPv4 address'],
  ],
  [
    'a loopback address',
    reaching({ addresses: ['127.0.0.1'] }),
    ['endpoints[0].addresses[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  ],
  ['a domain name with a trailing dot', { ...reaching({ addresses: ['web.example.com.'] }), addressType: 'FQDN' }, []],
  [
    'a domain name with one label',
    { ...reaching({ addresses: ['web'] }), addressType: 'FQDN' },
    [
      'endpoints[0].addresses[0]: Invalid value: "web": should be a domain with at least two segments separated by dots',
    ],
  ],
  [
    'a duplicate hint',
    reaching({ hints: { forZones: [{ name: 'z' }, { name: 'z' }] } }),
    ['endpoints[0].hints.forZones[1].name: Duplicate value: "z"'],
  ],
  [
    'a bad node',
    reaching({ nodeName: 'N!' }),
    [/^endpoints\[0\]\.nodeName: Invalid value: "N!": a lowercase RFC 1123/],
  ],
  ['a name twice', { ...slice, ports: [{}, {}] }, ['ports[1].name: Duplicate value: ""']],
  [
    'an empty protocol',
    { ...slice, ports: [{ protocol: '' }] },
    ['ports[0].protocol: Unsupported value: "": supported values: "SCTP", "TCP", "UDP"'],
  ],
  [
    'too many endpoints to check',
    { ...slice, endpoints: Array.from({ length: 1001 }, () => ({})) },
    ['endpoints: Too many: 1001: must have at most 1000 items'],
  ],
])

test('the type of the addresses may not change', () => {
  deepEqual(updateErrorsOf(endpointSlice, slice, { ...slice, addressType: 'FQDN' }), [
    'addressType: Invalid value: "FQDN": field is immutable',
  ])
})

test('the columns show three ports and addresses, and the number of further ones', () => {
  const endpoints = [{ addresses: ['10.0.0.1', '10.0.0.2'] }, { addresses: ['10.0.0.3', '10.0.0.4'] }]
  deepEqual(
    [
      cellsOf(endpointSlice, { ...slice, endpoints, ports: [{ port: 80 }, { name: 'p' }] }),
      cellsOf(endpointSlice, { addressType: 'IPv6' }),
    ],
    [
      ['x', 'IPv4', '80,p', '10.0.0.1,10.0.0.2,10.0.0.3 + 1 more...', '60s'],
      ['x', 'IPv6', '<unset>', '<unset>', '60s'],
    ],
  )
})

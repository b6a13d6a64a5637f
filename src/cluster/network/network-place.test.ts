// Places in the network as text, and which hosts are at them.
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import type { NetworkHost } from '../../machine/network/link-faults.ts'
import { isAt, parsePlace, type NetworkPlace } from './network-place.ts'

const places: readonly (readonly [text: string, place: NetworkPlace])[] = [
  ['pod/web-0', { kind: 'pod', namespace: 'default', name: 'web-0' }],
  ['pod/blue/web-0', { kind: 'pod', namespace: 'blue', name: 'web-0' }],
  ['service/web', { kind: 'service', namespace: 'default', name: 'web' }],
  ['node/node-0', { kind: 'node', name: 'node-0' }],
  ['outside', { kind: 'outside' }],
]
for (const [text, place] of places) test(`${text} is a place`, () => deepEqual(parsePlace(text), place))

for (const text of [
  '',
  'web',
  'pod',
  'pod/',
  'pod/a/',
  'pod/a/b/c',
  'node/a/b',
  'node/',
  'outside/x',
  'deployment/web',
])
  test(`${JSON.stringify(text)} is not a place`, () => throws(() => parsePlace(text), /is not a place in the network/))

const pod: NetworkHost = { address: '10.0.0.1', pod: 'blue/web-0', node: 'node-0' }
const node: NetworkHost = { address: '192.0.2.1', pod: '', node: 'node-0' }
const outside: NetworkHost = { address: '203.0.113.1', pod: '', node: '' }
const rows: readonly (readonly [text: string, host: NetworkHost, isThere: boolean])[] = [
  ['pod/blue/web-0', pod, true],
  ['pod/web-0', pod, false],
  ['node/node-0', pod, true],
  ['node/node-0', node, true],
  ['node/node-1', pod, false],
  ['service/blue/web', pod, true],
  ['service/blue/web', node, false],
  ['outside', outside, true],
  ['outside', pod, false],
]
const isEndpoint = (service: string, address: string) => service === 'blue/web' && address === '10.0.0.1'
for (const [text, host, isThere] of rows)
  test(`${host.pod || host.address} is ${isThere ? '' : 'not '}at ${text}`, () =>
    equal(isAt(parsePlace(text), host, isEndpoint), isThere))

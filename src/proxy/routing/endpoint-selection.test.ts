import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { Endpoint } from '../../api/discovery/v1/endpoint.ts'
import { portEndpoint, selectEndpoints } from './endpoint-selection.ts'
import { endpointAt } from './routing.harness.ts'

const here = { name: 'node-a', zone: 'one' }
const terminating = { ready: false, serving: true, terminating: true }
const unready = { ready: false, serving: false }
const elsewhere = { nodeName: 'node-b' }
const forZones = (...zones: string[]) => ({ hints: { forZones: zones.map((name) => ({ name })) } })
const forNodes = (...nodes: string[]) => ({ hints: { forNodes: nodes.map((name) => ({ name })) } })

const rows: readonly (readonly [string, readonly Endpoint[], cluster: string, local: string, hasAny: boolean])[] = [
  ['no endpoints', [], '', '', false],
  ['ready endpoints of two nodes', [endpointAt('10.0.0.1'), endpointAt('10.0.0.2', {}, elsewhere)], 'a b', 'a', true],
  ['unready endpoints', [endpointAt('10.0.0.1', unready)], '', '', false],
  ['an endpoint without conditions is ready', [endpointAt('10.0.0.1', { ready: undefined })], 'a', 'a', true],
  [
    'terminating endpoints are not used beside ready ones',
    [endpointAt('10.0.0.1', terminating), endpointAt('10.0.0.2', {}, elsewhere)],
    'b',
    'a',
    true,
  ],
  ['terminating endpoints that serve are the last resort', [endpointAt('10.0.0.1', terminating)], 'a', 'a', true],
  [
    'terminating endpoints that do not serve are never used',
    [endpointAt('10.0.0.1', { ready: false, serving: false, terminating: true })],
    '',
    '',
    false,
  ],
  [
    'local ready endpoints go before local terminating ones',
    [endpointAt('10.0.0.1', terminating), endpointAt('10.0.0.2')],
    'b',
    'b',
    true,
  ],
  [
    'the hinted zone',
    [endpointAt('10.0.0.1', {}, forZones('one')), endpointAt('10.0.0.2', {}, { ...elsewhere, ...forZones('two') })],
    'a',
    'a',
    true,
  ],
  [
    'one endpoint without a zone hint',
    [endpointAt('10.0.0.1', {}, forZones('one')), endpointAt('10.0.0.2')],
    'a b',
    'a b',
    true,
  ],
  ['no endpoint for this zone', [endpointAt('10.0.0.1', {}, forZones('two'))], 'a', 'a', true],
  [
    'hints of unready endpoints do not matter',
    [endpointAt('10.0.0.1', {}, forZones('one')), endpointAt('10.0.0.2', unready)],
    'a',
    'a',
    true,
  ],
  [
    'the hinted node goes before the hinted zone',
    [
      endpointAt('10.0.0.1', {}, { hints: { ...forNodes('node-a').hints, ...forZones('one').hints } }),
      endpointAt('10.0.0.2', {}, { hints: { ...forNodes('node-b').hints, ...forZones('one').hints } }),
    ],
    'a',
    'a b',
    true,
  ],
  [
    'the zone is used if no endpoint is hinted for this node',
    [
      endpointAt('10.0.0.1', {}, { hints: { ...forNodes('node-c').hints, ...forZones('two').hints } }),
      endpointAt('10.0.0.2', {}, { hints: { ...forNodes('node-b').hints, ...forZones('one').hints } }),
    ],
    'b',
    'a b',
    true,
  ],
  [
    'local traffic ignores hints',
    [endpointAt('10.0.0.1', {}, forZones('two')), endpointAt('10.0.0.2', {}, { ...elsewhere, ...forZones('one') })],
    'b',
    'a',
    true,
  ],
]

const names = (endpoints: readonly { readonly address: string }[]) =>
  endpoints.map(({ address }) => 'abcde'[Number(address.split('.')[3]) - 1]).join(' ')

for (const [name, endpoints, cluster, local, hasAny] of rows)
  test(`selected endpoints: ${name}`, () => {
    const selected = selectEndpoints(
      endpoints.flatMap((each) => portEndpoint(each, 80, here) ?? []),
      here,
    )
    deepEqual([names(selected.cluster), names(selected.local), selected.hasAny], [cluster, local, hasAny])
  })

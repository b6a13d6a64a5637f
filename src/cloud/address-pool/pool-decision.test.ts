// Which addresses a Service gets from the pool.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { Service } from '../../api/core/v1/service/service.ts'
import { AddressPool } from './address-pool.ts'
import { poolDecision, type PoolDecision, type PoolView } from './pool-decision.ts'

const pool = AddressPool.parse('10.0.0.1-10.0.0.2,fd00::1')
/** Services are as old as their names say. */
const serviceOf = (name: string, spec: object = {}) =>
  ({
    metadata: { name, namespace: 'default', uid: name, creationTimestamp: `2026-01-0${name}T00:00:00Z` },
    spec: { type: 'LoadBalancer', ports: [{ port: 80, protocol: 'TCP' }], ipFamilies: ['IPv4'], ...spec },
    status: {},
  }) as unknown as Service
const asks = (loadBalancerIP: string, port = 80, more: object = {}) => ({
  loadBalancerIP,
  ports: [{ port, protocol: 'TCP' }],
  ...more,
})
const dual = { ipFamilies: ['IPv4', 'IPv6'] }

type Case = [name: string, spec: object, view: Partial<PoolView>, PoolDecision | readonly string[]]
const heldBy = (address: string, ...services: Service[]) => ({ holders: new Map([[address, services]]) })
const problem = (text: string): PoolDecision => ({ addresses: [], problems: [text] })

const cases: readonly Case[] = [
  ['the first free address', {}, {}, ['10.0.0.1']],
  ['not one that another Service has', {}, heldBy('10.0.0.1', serviceOf('1')), ['10.0.0.2']],
  ['not one of a node', {}, { nodeAddresses: new Set(['10.0.0.1']) }, ['10.0.0.2']],
  ['the address that it has', {}, { held: ['10.0.0.2'] }, ['10.0.0.2']],
  ['another one if a node got it', {}, { held: ['10.0.0.1'], nodeAddresses: new Set(['10.0.0.1']) }, ['10.0.0.2']],
  [
    'another one if an older Service has it',
    {},
    { held: ['10.0.0.1'], ...heldBy('10.0.0.1', serviceOf('1')) },
    ['10.0.0.2'],
  ],
  [
    'the same if a younger Service has it',
    {},
    { held: ['10.0.0.1'], ...heldBy('10.0.0.1', serviceOf('9')) },
    ['10.0.0.1'],
  ],
  ['a new one if its own is not in the pool', {}, { held: ['10.9.9.9'] }, ['10.0.0.1']],
  ['one of each family', dual, {}, ['10.0.0.1', 'fd00::1']],
  ['the requested one', asks('10.0.0.2'), {}, ['10.0.0.2']],
  ['the requested one, and any of the other family', { ...asks('fd00:0::1'), ...dual }, {}, ['10.0.0.1', 'fd00::1']],
  ['a requested text that is no address has no effect', asks('web'), {}, ['10.0.0.1']],
  ['the requested one instead of the one that it has', asks('10.0.0.2'), { held: ['10.0.0.1'] }, ['10.0.0.2']],
  ['no address outside of the pool', asks('10.0.0.3'), {}, problem('address 10.0.0.3 is not in the pool')],
  [
    'no requested address of a node',
    asks('10.0.0.2'),
    { nodeAddresses: new Set(['10.0.0.2']) },
    problem('address 10.0.0.2 belongs to a node'),
  ],
  [
    'a shared address, if both name it and their ports differ',
    asks('10.0.0.2', 443),
    heldBy('10.0.0.2', serviceOf('9', asks('10.0.0.2'))),
    ['10.0.0.2'],
  ],
  [
    'none that a Service has which did not name it',
    asks('10.0.0.2', 443),
    heldBy('10.0.0.2', serviceOf('9')),
    problem('address 10.0.0.2 belongs to Service default/9'),
  ],
  [
    'none with the same port',
    asks('10.0.0.2'),
    heldBy('10.0.0.2', serviceOf('9', asks('10.0.0.2'))),
    problem('port 80/TCP of address 10.0.0.2 belongs to Service default/9'),
  ],
  [
    'the same port, if this one is older and has it',
    asks('10.0.0.2'),
    { held: ['10.0.0.2'], ...heldBy('10.0.0.2', serviceOf('9', asks('10.0.0.2'))) },
    ['10.0.0.2'],
  ],
  [
    'not the same port, if this one is younger',
    asks('10.0.0.2'),
    { held: ['10.0.0.2'], ...heldBy('10.0.0.2', serviceOf('1', asks('10.0.0.2'))) },
    problem('port 80/TCP of address 10.0.0.2 belongs to Service default/1'),
  ],
  [
    'no shared address with the policy Local',
    asks('10.0.0.2', 443, { externalTrafficPolicy: 'Local' }),
    heldBy('10.0.0.2', serviceOf('1', asks('10.0.0.2'))),
    problem('address 10.0.0.2 belongs to Service default/1, and externalTrafficPolicy of default/5 is Local'),
  ],
  [
    'none of an exhausted family',
    { ipFamilies: ['IPv6'] },
    heldBy('fd00::1', serviceOf('1')),
    problem('all IPv6 addresses of the pool are used'),
  ],
  [
    'one family, if the other is exhausted',
    dual,
    heldBy('fd00::1', serviceOf('1')),
    { addresses: ['10.0.0.1'], problems: ['all IPv6 addresses of the pool are used'] },
  ],
  [
    'a family that the pool lacks is a problem',
    dual,
    { pool: AddressPool.parse('10.0.0.1') },
    { addresses: ['10.0.0.1'], problems: ['the pool has no IPv6 addresses'] },
  ],
  [
    'unless it is only preferred',
    { ...dual, ipFamilyPolicy: 'PreferDualStack' },
    { pool: AddressPool.parse('10.0.0.1') },
    ['10.0.0.1'],
  ],
  ['IPv4 if nothing says otherwise', { ipFamilies: undefined }, {}, ['10.0.0.1']],
]

for (const [name, spec, view, expected] of cases)
  test(`a Service gets: ${name}`, () => {
    const empty = { pool, holders: new Map(), held: [], nodeAddresses: new Set<string>() }
    const decided = Array.isArray(expected) ? { addresses: expected, problems: [] } : expected
    deepEqual(poolDecision(serviceOf('5', spec), { ...empty, ...view }), decided)
  })

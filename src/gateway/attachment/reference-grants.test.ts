import { equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ReferenceGrant } from '../kinds/gateway-kinds.ts'
import { object } from '../simulated-objects.harness.ts'
import { isPermitted } from './reference-grants.ts'

const group = 'gateway.networking.k8s.io'
const from = { group, kind: 'HTTPRoute', namespace: 'shop' }
const to = { group: '', kind: 'Service', namespace: 'backend', name: 'web' }

const grant = (
  namespace: string,
  granted: Partial<ReferenceGrant['spec']['from'][number]> = {},
  target: Partial<ReferenceGrant['spec']['to'][number]> = {},
): ReferenceGrant => ({
  ...object('grant', namespace),
  spec: { from: [{ ...from, ...granted }], to: [{ group: '', kind: 'Service', ...target }] },
})

/** All grants, as if each namespace had been asked for. */
const grantsOf = (grants: readonly ReferenceGrant[]) => (namespace: string) =>
  grants.filter(({ metadata }) => metadata.namespace === namespace)

const cases: readonly (readonly [string, readonly ReferenceGrant[], boolean])[] = [
  ['without a grant', [], false],
  ['with a grant for all Services', [grant('backend')], true],
  ['with a grant for this Service', [grant('backend', {}, { name: 'web' })], true],
  ['with a grant for another Service', [grant('backend', {}, { name: 'other' })], false],
  ['with a grant in another namespace', [grant('shop')], false],
  ['with a grant for another namespace', [grant('backend', { namespace: 'other' })], false],
  ['with a grant for another kind of route', [grant('backend', { kind: 'GRPCRoute' })], false],
  ['with a grant for another group', [grant('backend', { group: '' })], false],
  ['with a grant for another kind of object', [grant('backend', {}, { kind: 'Secret' })], false],
  ['with several grants, one of which applies', [grant('other'), grant('backend')], true],
]

suite('a reference to another namespace is', () => {
  for (const [name, grants, expected] of cases)
    test(`${expected ? 'permitted' : 'not permitted'} ${name}`, () =>
      equal(isPermitted(grantsOf(grants), from, to), expected))
})

test('a reference within a namespace needs no grant', () =>
  equal(
    isPermitted(() => [], from, { ...to, namespace: 'shop' }),
    true,
  ))

import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ConfigMap } from '../../api/core/v1/config-map.ts'
import type { BackendTlsPolicy } from '../kinds/policy-kinds.ts'
import {
  gatewayOf,
  httpRouteOf,
  listener,
  object,
  planned,
  serviceOf,
  sourcesOf,
} from '../simulated-objects.harness.ts'
import { policyStatus } from './policy-status.ts'

type Spec = BackendTlsPolicy['spec']
const target = (more: object = {}) => ({ group: '', kind: 'Service', name: 'web', ...more })
const caRef = (more: object = {}) => ({ group: '', kind: 'ConfigMap', name: 'ca', ...more })
const policyOf = (
  name: string,
  validation: Partial<Spec['validation']> = {},
  targetRefs: Spec['targetRefs'] = [target()],
  created = '2030-01-01T00:00:00Z',
): BackendTlsPolicy => ({
  ...object(name, 'default', { creationTimestamp: created }),
  spec: { targetRefs, validation: { hostname: 'web.example.com', caCertificateRefs: [caRef()], ...validation } },
})
const caOf = (text: string | undefined, version = '1') =>
  ({
    ...object('ca', 'default', { resourceVersion: version }),
    data: text === undefined ? {} : { 'ca.crt': text },
  }) as unknown as ConfigMap
const configMaps = { 'default/ca': caOf('certificate 1'), 'default/empty': caOf(undefined) }

function planOf(policies: readonly BackendTlsPolicy[], services = { 'default/web': serviceOf() }) {
  const plan = planned(
    [gatewayOf('gateway', [listener('http')])],
    [httpRouteOf('r')],
    sourcesOf({ configMaps, services }),
    policies,
  )
  const [route] = plan.routes
  return {
    plan,
    backend: route?.compiled.templates[0]?.backends[0]?.backend,
    resolvedRefs: route?.compiled.resolvedRefs.reason,
    reasons: plan.policies.map(({ verdict }) => `${verdict.accepted.reason} ${verdict.resolvedRefs.reason}`),
  }
}

const cases: readonly (readonly [
  name: string,
  validation: Partial<Spec['validation']>,
  expected: string,
  isValid: boolean,
])[] = [
  ['a ConfigMap', {}, 'Accepted ResolvedRefs', true],
  ['a hostname that is none', { hostname: 'a b' }, 'Invalid ResolvedRefs', false],
  ['a missing ConfigMap', { caCertificateRefs: [caRef({ name: 'gone' })] }, 'NoValidCACertificate InvalidCACertificateRef', false],
  ['a ConfigMap without certificates', { caCertificateRefs: [caRef({ name: 'empty' })] }, 'NoValidCACertificate InvalidCACertificateRef', false],
  ['another kind', { caCertificateRefs: [caRef({ kind: 'Secret' })] }, 'NoValidCACertificate InvalidKind', false],
  ['another group', { caCertificateRefs: [caRef({ group: 'example.com' })] }, 'NoValidCACertificate InvalidKind', false],
  ['one of two references that is invalid', { caCertificateRefs: [caRef(), caRef({ name: 'gone' })] }, 'Accepted InvalidCACertificateRef', false],
  ['well-known certificates', { caCertificateRefs: [], wellKnownCACertificates: 'System' }, 'Invalid ResolvedRefs', false],
] // prettier-ignore

suite('a BackendTLSPolicy with', () => {
  for (const [name, validation, expected, isValid] of cases)
    test(name, () => {
      const { reasons, backend, resolvedRefs } = planOf([policyOf('a', validation)])
      deepEqual(reasons, [expected])
      // Requests fail, and the status of the policy says why.
      deepEqual([backend?.tls?.serverName, resolvedRefs], [isValid ? 'web.example.com' : undefined, 'ResolvedRefs'])
      equal(backend === undefined, !isValid)
    })

  test('alternative names', () => {
    const subjectAltNames = [
      { type: 'Hostname', hostname: '*.example.org' },
      { type: 'URI', uri: 'spiffe://example.com/web' },
    ]
    const names = planOf([policyOf('a', { subjectAltNames })]).backend?.tls?.names
    deepEqual(names, [{ kind: 'dns', name: '*.example.org' }, { kind: 'uri', uri: 'spiffe://example.com/web' }]) // prettier-ignore
    deepEqual(planOf([policyOf('a')]).backend?.tls?.names, [{ kind: 'dns', name: 'web.example.com' }])
  })
})

suite('of several BackendTLSPolicies', () => {
  const named = (hostname: string) => ({ hostname })

  test('the older has the target, then the first by name', () => {
    const younger = policyOf('a', named('a.com'), undefined, '2031-01-01T00:00:00Z')
    const { plan, reasons, backend } = planOf([younger, policyOf('c', named('c.com')), policyOf('b', named('b.com'))])
    deepEqual(plan.policies.map(({ verdict }) => verdict.policy.metadata.name), ['b', 'c', 'a']) // prettier-ignore
    deepEqual(reasons, ['Accepted ResolvedRefs', 'Conflicted ResolvedRefs', 'Conflicted ResolvedRefs'])
    equal(backend?.tls?.serverName, 'b.com')
  })

  test('one for the port precedes one for the Service', () => {
    const service = serviceOf()
    const ports = (service.spec.ports ?? []).map((port) => ({ ...port, name: 'https' }))
    const services = { 'default/web': { ...service, spec: { ...service.spec, ports } } }
    const both = [
      policyOf('a', named('a.com')),
      policyOf('b', named('b.com'), [target({ sectionName: 'https' })]),
      policyOf('c', named('c.com'), [target({ sectionName: 'other' })]),
    ]
    const { reasons, backend } = planOf(both, services)
    deepEqual([reasons, backend?.tls?.serverName], [Array(3).fill('Accepted ResolvedRefs'), 'b.com'])
  })
})

test('a Service that needs TLS is not called without a policy', () => {
  const services = { 'default/web': serviceOf('https') }
  deepEqual([planOf([], services).resolvedRefs, planOf([policyOf('a')], services).resolvedRefs], ['UnsupportedProtocol', 'ResolvedRefs']) // prettier-ignore
})

test('the status names the Gateways with routes to the Service; entries of others are kept', () => {
  const sources = { controllerName: 'coxswain.dev/gateway', time: 't1' }
  const other = { ancestorRef: { name: 'x' }, controllerName: 'example.com/other', conditions: [] }
  const policy = { ...policyOf('a'), status: { ancestors: [other] } }
  const unused = policyOf('b', {}, [target({ name: 'unused' })])
  const [first, second] = planOf([policy, unused]).plan.policies.map(({ verdict, gateways }) =>
    policyStatus(verdict, { ...sources, gateways }),
  )
  deepEqual(first?.ancestors[0], other)
  const [, own] = first?.ancestors ?? []
  deepEqual(own?.ancestorRef, {
    group: 'gateway.networking.k8s.io',
    kind: 'Gateway',
    namespace: 'default',
    name: 'gateway',
  })
  deepEqual(own?.conditions.map(({ type, status, observedGeneration }) => [type, status, observedGeneration]), [['Accepted', 'True', 1], ['ResolvedRefs', 'True', 1]]) // prettier-ignore
  deepEqual(second?.ancestors, [])
  const crowded = { ...policy, status: { ancestors: Array.from({ length: 16 }, () => other) } }
  const [plan] = planOf([crowded]).plan.policies
  equal(plan && policyStatus(plan.verdict, { ...sources, gateways: plan.gateways }).ancestors.length, 16)
})

import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { service } from '../core/v1/service/service.ts'
import { networkPolicy } from '../networking/v1/network-policy.ts'
import { fieldErrorText } from '../../schema/validation/field-error.ts'
import { cidrErrors } from './network-rules.ts'

const invalid = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'
const zeros = 'must not have leading 0s in IP or prefix length'
const bits = 'must not have bits set beyond the prefix length'
const mapped = 'must not have an IPv4-mapped IPv6 address'

const rows: readonly (readonly [string, string | undefined])[] = [
  ['10.0.0.0/8', undefined],
  ['0.0.0.0/0', undefined],
  ['2001:DB8:0::/64', undefined],
  ['10.0.0.0/008', zeros],
  ['010.0.0.0/8', zeros],
  ['fd00::/064', zeros],
  ['10.0.0.1/8', bits],
  ['fd00::1/64', bits],
  ['::ffff:10.0.0.0/104', mapped],
  ['::ffff:10.0.0.0/24', mapped],
  ['10.0.0.0/33', invalid],
  ['10.0.0.0', invalid],
  ['10.0.0.0/8/8', invalid],
  ['10.0.0.0/+8', invalid],
  ['', invalid],
]
for (const [text, expected] of rows)
  test(`a CIDR of an object: ${JSON.stringify(text)}`, () => {
    deepEqual(cidrErrors(text, new Set()), expected === undefined ? [] : [expected])
    deepEqual(cidrErrors(text, new Set([text])), [])
  })

const policyWith = (cidr: string, except: readonly string[] = []) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'p', namespace: 'x' },
  spec: { podSelector: {}, policyTypes: ['Ingress'], ingress: [{ from: [{ ipBlock: { cidr, except } }] }] },
})
const policyErrors = (now: object, old?: object) =>
  networkPolicy.validate(now as never, old as never).map(fieldErrorText)

test('a NetworkPolicy keeps the CIDRs that it has, and gets no others of these forms', () => {
  const stored = policyWith('10.0.0.0/008', ['010.1.0.0/16'])
  deepEqual(policyErrors(stored), [
    `spec.ingress[0].from[0].ipBlock.cidr: Invalid value: "10.0.0.0/008": ${zeros}`,
    `spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "010.1.0.0/16": ${zeros}`,
  ])
  deepEqual(policyErrors(stored, stored), [])
  deepEqual(policyErrors(policyWith('10.0.0.0/008', ['11.0.0.0/16']), stored), [
    'spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "11.0.0.0/16": must be a strict subset of `cidr`',
  ])
})

const serviceWith = (loadBalancerSourceRanges: readonly string[]) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 's', namespace: 'x' },
  spec: {
    type: 'LoadBalancer',
    ports: [{ port: 80, protocol: 'TCP' }],
    sessionAffinity: 'None',
    loadBalancerSourceRanges,
  },
  status: { loadBalancer: {} },
})
const serviceErrors = (now: object, old?: object) =>
  service
    .validate(now as never, old as never)
    .map(fieldErrorText)
    .filter((text) => text.includes('Ranges'))

test('a Service keeps the source ranges that it has, and gets no others of these forms', () => {
  const stored = serviceWith([' 10.0.0.0/008'])
  const error = `spec.LoadBalancerSourceRanges[0]: Invalid value: "10.0.0.0/008": ${zeros}`
  deepEqual(serviceErrors(stored), [error])
  deepEqual(serviceErrors(serviceWith(['10.0.0.0/008']), stored), [])
  deepEqual(serviceErrors(serviceWith(['10.0.0.0/008']), serviceWith(['10.0.0.0/8'])), [error])
})

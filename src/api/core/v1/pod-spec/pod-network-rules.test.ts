import { deepEqual } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { validateHostNames } from './pod-network-rules.ts'
import type { PodSpec } from './pod-spec.ts'

const cases: [why: string, spec: Partial<PodSpec>, errors: readonly string[]][] = [
  ['none', {}, []],
  ['labels', { hostname: 'a', subdomain: 'b' }, []],
  ['an override', { hostnameOverride: 'a.b' }, []],
  [
    'an override and the FQDN as the host name',
    { hostnameOverride: 'a.b', setHostnameAsFQDN: true },
    ['spec.hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true'],
  ],
  [
    'an override in the network of the node',
    { hostnameOverride: 'a.b', hostNetwork: true },
    ['spec.hostnameOverride: Forbidden: may not be specified when hostNetwork is true'],
  ],
]

suite('host names of a pod', () => {
  for (const [why, spec, errors] of cases)
    test(why, () => {
      const found = validateHostNames(spec as PodSpec, 'spec')
      deepEqual(
        found.map(({ field, message }) => `${field}: ${message}`),
        errors,
      )
    })
})

// IP families: a few decisions as data. The whole table is compared with upstream in test/services.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { ServiceSpec } from '../../../api/core/v1/service/service-spec.ts'
import { fieldErrorText } from '../../../schema/validation/field-error.ts'
import { decideFamilies } from './ip-families.ts'
import type { IpFamily } from './service-ranges.ts'

type Spec = Partial<ServiceSpec>
const specOf = (spec: Spec): ServiceSpec => ({
  type: 'ClusterIP',
  sessionAffinity: 'None',
  selector: { a: 'b' },
  ...spec,
})
const dual: [IpFamily, IpFamily] = ['IPv6', 'IPv4']
const two: Spec = {
  ipFamilies: dual,
  ipFamilyPolicy: 'PreferDualStack',
  clusterIPs: ['fd00::1', '10.0.0.1'],
  clusterIP: 'fd00::1',
}

const cases: [
  what: string,
  sent: Spec,
  old: Spec | undefined,
  families: [IpFamily, ...IpFamily[]],
  outcome: unknown,
][] = [
  ['the first family of the cluster is the default', {}, undefined, dual, [['IPv6'], 'SingleStack']],
  [
    'a preference is met where the cluster can',
    { ipFamilyPolicy: 'PreferDualStack' },
    undefined,
    dual,
    [dual, 'PreferDualStack'],
  ],
  [
    'a preference has no effect on other clusters',
    { ipFamilyPolicy: 'PreferDualStack' },
    undefined,
    ['IPv4'],
    [['IPv4'], 'PreferDualStack'],
  ],
  [
    'an address determines the family',
    { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] },
    undefined,
    dual,
    [['IPv4'], 'SingleStack'],
  ],
  [
    'an update preserves what it omits',
    { clusterIP: 'fd00::1', clusterIPs: ['fd00::1', '10.0.0.1'] },
    two,
    dual,
    [dual, 'PreferDualStack'],
  ],
  [
    'a change to SingleStack releases the second family',
    { ...two, ipFamilyPolicy: 'SingleStack' },
    two,
    dual,
    [['IPv6'], 'SingleStack'],
  ],
  [
    'the second family is not released without it',
    { ...two, ipFamilies: ['IPv6'] },
    two,
    dual,
    "must be 'SingleStack' to release the secondary IP family",
  ],
  [
    'a requirement that the cluster cannot meet',
    { ipFamilyPolicy: 'RequireDualStack' },
    undefined,
    ['IPv4'],
    'this cluster is not configured for dual-stack services',
  ],
]
for (const [what, sent, old, families, outcome] of cases)
  test(what, () => {
    const verdict = decideFamilies(specOf(sent), old && specOf(old), families)
    const { kind } = verdict
    deepEqual(
      kind === 'accepted'
        ? [verdict.spec.ipFamilies, verdict.spec.ipFamilyPolicy]
        : verdict.errors.map(fieldErrorText)[0]?.replace(/^.*?": /, ''),
      outcome,
    )
  })

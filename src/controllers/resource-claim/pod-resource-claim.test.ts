// ResourceClaims that are generated for pods from templates, and the pod's status.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { resourceClaimTemplate } from '../../api/resource/v1/resource-claim-template.ts'
import { resourceClaim, type ResourceClaim } from '../../api/resource/v1/resource-claim.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { aPod, firstObject, made, planOf, shown } from '../runtime/plan.harness.ts'
import { podResourceClaimController as controller } from './pod-resource-claim.ts'

const annotation = 'resource.kubernetes.io/pod-claim-name'
const devices = { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] }
const template = made(resourceClaimTemplate, 't', {
  spec: { metadata: { labels: { from: 't' }, annotations: { note: 'n' } }, spec: { devices } },
})
const asking = { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 't' }] }
const pending = { phase: 'Pending', nodeName: '' }
const aUser = (details: Record<string, unknown> = {}) => aPod('p', { ...pending, spec: asking, ...details })
const recorded = (...statuses: object[]) => ({ status: { resourceClaimStatuses: statuses } })
const claim = (name: string, madeFor: string, owner = 'uid-p') =>
  made(resourceClaim, name, {
    metadata: {
      annotations: { [annotation]: madeFor },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: owner, controller: true }],
    },
    spec: { devices },
  })
const missing = 'resource claim template "t": resourceclaimtemplate.resource.k8s.io "t" not found'
const notOurs = 'ResourceClaim default/mine was not created for pod default/p (pod is not owner)'
const both = { resourceClaims: [...asking.resourceClaims, { name: 'nic', resourceClaimTemplateName: 't' }] }
const recordedClaim = { name: 'gpu', resourceClaimName: 'mine' }

interface Outcome {
  readonly changes?: readonly string[]
  readonly statuses?: readonly object[]
  readonly events?: readonly string[]
}

const table: readonly [why: string, object: Pod, others: readonly ApiObject[], outcome: Outcome][] = [
  ['the claim is created', aUser(), [template], { changes: ['create resourceclaim p-gpu-'] }],
  ['a missing template is reported', aUser(), [], { events: [`PodResourceClaim gpu: ${missing}`] }],
  [
    'the created claim is recorded in the status',
    aUser(),
    [template, claim('mine', 'gpu')],
    { statuses: [recordedClaim] },
  ],
  [
    'the created claim is recorded without the template',
    aUser(),
    [claim('mine', 'gpu')],
    { statuses: [recordedClaim] },
  ],
  ['a recorded claim needs no change', aUser(recorded(recordedClaim)), [template, claim('mine', 'gpu')], {}],
  [
    'a recorded claim that does not exist is created',
    aUser(recorded(recordedClaim)),
    [template],
    { changes: ['create resourceclaim p-gpu-'] },
  ],
  [
    'the new claim is recorded instead of a deleted one',
    aUser(recorded({ ...recordedClaim, resourceClaimName: 'lost' })),
    [template, claim('mine', 'gpu')],
    { statuses: [recordedClaim] },
  ],
  ['no claim is created if the status states that none is needed', aUser(recorded({ name: 'gpu' })), [template], {}],
  [
    'a claim of another pod is reported',
    aUser(recorded(recordedClaim)),
    [template, claim('mine', 'gpu', 'uid-other')],
    { events: [`PodResourceClaim gpu: ${notOurs}`] },
  ],
  [
    'one claim is recorded and another created',
    aUser({ spec: both }),
    [template, claim('mine', 'gpu')],
    { changes: ['create resourceclaim p-nic-'], statuses: [recordedClaim] },
  ],
  [
    'a pod with a nodeName of its creator',
    aUser({ nodeName: 'n' }),
    [template],
    { changes: ['create resourceclaim p-gpu-'] },
  ],
  [
    'claims by name are ignored',
    aUser({ spec: { resourceClaims: [{ name: 'gpu', resourceClaimName: 'x' }] } }),
    [template],
    {},
  ],
  ['nothing is created for a deleted pod', aUser({ deletionTimestamp: '2030-01-01T00:00:00Z' }), [template], {}],
  ['nothing is created for a finished pod', aUser({ phase: 'Failed' }), [template], {}],
]

for (const [why, object, others, { changes = [], statuses, events = [] }] of table)
  test(`claim templates of a pod: ${why}`, () => {
    const plan = planOf(controller, object, ...others)
    deepEqual(shown(plan.changes), changes)
    deepEqual((plan.status as Pod['status'] | undefined)?.resourceClaimStatuses, statuses)
    deepEqual(
      (plan.events ?? []).map(({ message }) => message),
      events,
    )
  })

test('a claim has the spec and metadata of its template, and names the claim of the pod', () => {
  const { metadata, spec } = firstObject<ResourceClaim>(planOf(controller, aUser(), template))
  deepEqual(metadata.labels, { from: 't' })
  deepEqual(metadata.annotations, { note: 'n', [annotation]: 'gpu' })
  deepEqual(spec, template.spec.spec)
})

test('a long name is shortened in proportion', () => {
  const long = { metadata: { ...aUser().metadata, name: 'p'.repeat(60) } }
  const { metadata } = firstObject<ResourceClaim>(planOf(controller, { ...aUser(), ...long }, template))
  equal(metadata.generateName, `${'p'.repeat(52)}-gp`)
})

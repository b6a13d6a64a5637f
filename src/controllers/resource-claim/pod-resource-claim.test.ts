// Which claims a pod gets from templates, and how its status tells of them.
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
const aUser = (look: Record<string, unknown> = {}) => aPod('p', { ...pending, spec: asking, ...look })
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
const told = { name: 'gpu', resourceClaimName: 'mine' }

interface Outcome {
  readonly changes?: readonly string[]
  readonly statuses?: readonly object[]
  readonly events?: readonly string[]
}

const table: readonly [why: string, object: Pod, others: readonly ApiObject[], outcome: Outcome][] = [
  ['makes the claim', aUser(), [template], { changes: ['create resourceclaim p-gpu-'] }],
  ['says that there is no template', aUser(), [], { events: [`PodResourceClaim gpu: ${missing}`] }],
  ['tells of the claim that was made', aUser(), [template, claim('mine', 'gpu')], { statuses: [told] }],
  ['knows it without the template', aUser(), [claim('mine', 'gpu')], { statuses: [told] }],
  ['is content', aUser(recorded(told)), [template, claim('mine', 'gpu')], {}],
  [
    'takes no word for a missing claim',
    aUser(recorded(told)),
    [template],
    { changes: ['create resourceclaim p-gpu-'] },
  ],
  [
    'tells of the new one instead of the lost one',
    aUser(recorded({ ...told, resourceClaimName: 'lost' })),
    [template, claim('mine', 'gpu')],
    { statuses: [told] },
  ],
  ['makes none where none is needed', aUser(recorded({ name: 'gpu' })), [template], {}],
  [
    "refuses another pod's",
    aUser(recorded(told)),
    [template, claim('mine', 'gpu', 'uid-other')],
    { events: [`PodResourceClaim gpu: ${notOurs}`] },
  ],
  [
    'makes those that are missing beside those that are there',
    aUser({ spec: both }),
    [template, claim('mine', 'gpu')],
    { changes: ['create resourceclaim p-nic-'], statuses: [told] },
  ],
  [
    'makes them for a pod that was put on a node by hand',
    aUser({ nodeName: 'n' }),
    [template],
    { changes: ['create resourceclaim p-gpu-'] },
  ],
  [
    'leaves claims by name alone',
    aUser({ spec: { resourceClaims: [{ name: 'gpu', resourceClaimName: 'x' }] } }),
    [template],
    {},
  ],
  ['makes nothing for a pod that goes', aUser({ deletionTimestamp: '2030-01-01T00:00:00Z' }), [template], {}],
  ['makes nothing for a pod that has ended', aUser({ phase: 'Failed' }), [template], {}],
]

for (const [why, object, others, { changes = [], statuses, events = [] }] of table)
  test(`a pod with templates of claims: ${why}`, () => {
    const plan = planOf(controller, object, ...others)
    deepEqual(shown(plan.changes), changes)
    deepEqual((plan.status as Pod['status'] | undefined)?.resourceClaimStatuses, statuses)
    deepEqual(
      (plan.events ?? []).map(({ message }) => message),
      events,
    )
  })

test('a claim is what its template says, and belongs to one of the claims of the pod', () => {
  const { metadata, spec } = firstObject<ResourceClaim>(planOf(controller, aUser(), template))
  deepEqual(metadata.labels, { from: 't' })
  deepEqual(metadata.annotations, { note: 'n', [annotation]: 'gpu' })
  deepEqual(spec, template.spec.spec)
})

test('a name that is too long keeps something of the pod and of the claim', () => {
  const long = { metadata: { ...aUser().metadata, name: 'p'.repeat(60) } }
  const { metadata } = firstObject<ResourceClaim>(planOf(controller, { ...aUser(), ...long }, template))
  equal(metadata.generateName, `${'p'.repeat(52)}-gp`)
})

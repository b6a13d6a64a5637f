// runRetention: what becomes of the claims of a StatefulSet with a retention policy while the set is scaled down and up, its
// policy changes and it is deleted. Pods have a finalizer, so that the owners of claims are seen before pods are removed.
import type { Context } from '../../src/base/observability/context.ts'
import { statefulSet } from '../../src/api/apps/v1/stateful-set.ts'
import { configMap } from '../../src/api/core/v1/config-map.ts'
import { pod } from '../../src/api/core/v1/pod/pod.ts'
import { persistentVolumeClaim } from '../../src/api/core/v1/volume/persistent-volume-claim.ts'
import { isBeingDeleted } from '../../src/api/meta/object.ts'
import type { Client } from '../../src/client/client.ts'

export interface RetentionApi {
  readonly client: Client
  readonly context: Context
  /** Returns when nothing changes any more. */
  settle(): Promise<void>
}

type Policy = 'Delete' | 'Retain'

export interface RetentionCase {
  readonly whenDeleted: Policy
  readonly whenScaled: Policy
  readonly deletion: 'Background' | 'Orphan'
  /** Whether the claims have another owner before the set is scaled. */
  readonly hasOther: boolean
}

const policies = ['Delete', 'Retain'] as const

export const retentionCases: readonly RetentionCase[] = policies
  .flatMap((whenDeleted) => policies.map((whenScaled) => ({ whenDeleted, whenScaled })))
  .flatMap((each) => (['Background', 'Orphan'] as const).map((deletion) => ({ ...each, deletion })))
  .flatMap((each) => [false, true].map((hasOther) => ({ ...each, hasOther })))

export const titleOf = ({ whenDeleted, whenScaled, deletion, hasOther }: RetentionCase): string =>
  `whenDeleted ${whenDeleted}, whenScaled ${whenScaled}, ${deletion}${hasOther ? ', with another owner' : ''}`

/** One line of states.jsonl. */
export interface RetentionState {
  readonly title: string
  readonly step: string
  /** Each claim with its owners, and each pod. */
  readonly objects: readonly string[]
}

const namespace = 'default'
const name = 'db'
const held = 'example.com/held'
const labels = { app: name }

const setOf = ({ whenDeleted, whenScaled }: RetentionCase) => ({
  metadata: { name },
  spec: {
    replicas: 3,
    serviceName: name,
    podManagementPolicy: 'Parallel',
    selector: { matchLabels: labels },
    persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled },
    template: { metadata: { labels, finalizers: [held] }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    volumeClaimTemplates: [
      {
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'none' },
      },
    ],
  },
})

const opposite = (policy: Policy): Policy => (policy === 'Delete' ? 'Retain' : 'Delete')

export async function runRetention(api: RetentionApi, each: RetentionCase): Promise<RetentionState[]> {
  const { client, context, settle } = api
  const sets = client.of(statefulSet)
  const patch = (spec: object) => sets.patch(name, namespace, { spec }, 'merge', context)
  const retention = (whenDeleted: Policy, whenScaled: Policy) =>
    patch({ persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled } })
  const steps: readonly (readonly [step: string, apply: () => Promise<unknown>])[] = [
    ['created', () => sets.create(setOf(each), namespace, context)],
    ...(each.hasOther ? [['given another owner', () => addOwner(api)] as const] : []),
    ['scaled down', () => patch({ replicas: 1 })],
    ['pods removed', () => release(api)],
    ['scaled up', () => patch({ replicas: 3 })],
    ['policy reversed', () => retention(opposite(each.whenDeleted), opposite(each.whenScaled))],
    ['policy restored', () => retention(each.whenDeleted, each.whenScaled)],
    ['deleted', () => sets.delete(name, namespace, { propagationPolicy: each.deletion }, context)],
    ['pods deleted', () => removePods(api)],
  ]
  const states: RetentionState[] = []
  for (const [step, apply] of steps) {
    await apply()
    await settle()
    states.push({ title: titleOf(each), step, objects: await objectsOf(api) })
  }
  for (const { metadata } of (await client.of(persistentVolumeClaim).list({ namespace }, context)).items)
    await client.of(persistentVolumeClaim).delete(metadata.name, namespace, {}, context)
  if (each.hasOther) await client.of(configMap).delete('other', namespace, {}, context)
  await settle()
  return states
}

async function addOwner({ client, context }: RetentionApi): Promise<void> {
  const other = await client.of(configMap).create({ metadata: { name: 'other' } }, namespace, context)
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: other.metadata.uid }
  const claims = client.of(persistentVolumeClaim)
  for (const { metadata } of (await claims.list({ namespace }, context)).items) {
    const ownerReferences = [...(metadata.ownerReferences ?? []), reference]
    await claims.patch(metadata.name, namespace, { metadata: { ownerReferences } }, 'merge', context)
  }
}

/** Removes the finalizer of pods that are being deleted. */
async function release({ client, context }: RetentionApi): Promise<void> {
  for (const each of (await client.of(pod).list({ namespace }, context)).items)
    if (isBeingDeleted(each))
      await client.of(pod).patch(each.metadata.name, namespace, { metadata: { finalizers: null } }, 'merge', context)
}

async function removePods(api: RetentionApi): Promise<void> {
  const { client, context } = api
  for (const { metadata } of (await client.of(pod).list({ namespace }, context)).items)
    await client.of(pod).delete(metadata.name, namespace, { gracePeriodSeconds: 0 }, context)
  await release(api)
}

async function objectsOf({ client, context }: RetentionApi): Promise<string[]> {
  const claims = (await client.of(persistentVolumeClaim).list({ namespace }, context)).items
  const pods = (await client.of(pod).list({ namespace }, context)).items
  return [...claims, ...pods]
    .map((object) => {
      const { kind, metadata } = object
      const owners = (metadata.ownerReferences ?? []).map(
        (owner) =>
          `${owner.kind} ${owner.name}${owner.controller ? ' controls' : ''}${owner.blockOwnerDeletion ? ' blocks' : ''}`,
      )
      const deleted = isBeingDeleted(object) ? ', being deleted' : ''
      return `${kind} ${metadata.name}${deleted}: ${owners.toSorted().join(', ') || 'no owner'}`
    })
    .toSorted()
}

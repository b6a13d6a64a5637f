// ResourceClaims say who uses them, and give back what ended pods leave: a pod that is over does not use its claim any more,
// a claim that nobody uses has no devices, and one that was made for a pod goes with it.
import type { Context } from '../../base/observability/context.ts'
import { isPodFinished } from '../../api/core/v1/pod/pod-readiness.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { controllerOf, isBeingDeleted, keyOf, namespaceOf, objectKey, type ObjectKey } from '../../api/meta/object.ts'
import { reservedForMax, resourceClaim, type ResourceClaim } from '../../api/resource/v1/resource-claim.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import { defineController, type ObjectIndex, type ReconcileTools } from '../runtime/controller.ts'
import { hasFinalizer, withoutFinalizer } from '../runtime/object-finalizers.ts'

/** Set by the scheduler on claims that it gives devices to. */
const finalizer = 'resource.kubernetes.io/delete-protection'

type User = NonNullable<ResourceClaim['status']['reservedFor']>[number]

const podsByClaim: ObjectIndex<Pod> = { kind: pod, name: 'resource-claim', valuesOf: (target) => claimsOf(target) }

export const resourceClaimController = defineController({
  name: 'resource-claim',
  account: 'resource-claim-controller',
  watches: [pod, resourceClaim],
  indexes: [podsByClaim as ObjectIndex],
  state: () => undefined,
  enqueues(kind, { key, now, before }) {
    if (kind.kind === resourceClaim.kind) return now === undefined ? [] : [key]
    const last = (now ?? before) as Pod | undefined
    // A pod that waits for its node uses nothing yet: the scheduler says so when it binds it.
    return last === undefined || (now !== undefined && !isOver(last) && last.spec.nodeName === undefined)
      ? []
      : claimsOf(last)
  },
  async reconcile(key, tools, context) {
    const claim = tools.cached(resourceClaim, key)
    if (claim === undefined) return
    const users = await usersLeft(claim, tools, context)
    const comers = newUsers(claim, users, tools)
    try {
      const freed = await settle(claim, users, comers, tools, context)
      const owner = controllerOf(claim)
      if (users.length + comers.length > 0 || owner?.kind !== pod.kind || isBeingDeleted(freed)) return
      if (await isUsing(claim, owner, tools, context)) return
      const { name, uid } = claim.metadata
      await tools.client.of(resourceClaim).delete(name, namespaceOf(claim), { uid }, context)
    } catch (error) {
      if (!hasReason(error, 'NotFound')) throw error
    }
  },
})

/** The claim with those who use it and without those who did, and without devices when nobody is left. */
async function settle(
  claim: ResourceClaim,
  left: readonly User[],
  comers: readonly User[],
  { client }: Pick<ReconcileTools, 'client'>,
  context: Context,
): Promise<ResourceClaim> {
  const { reservedFor = [], allocation, ...status } = claim.status
  const users = [...left, ...comers]
  const isProtected = hasFinalizer(claim, finalizer)
  const isIdle = users.length === 0 && isProtected
  const isChanged = left.length < reservedFor.length || comers.length > 0
  if (!isChanged && !(isIdle && isBeingDeleted(claim))) return claim
  const kept = {
    ...status,
    ...(users.length > 0 && { reservedFor: users }),
    ...(allocation !== undefined && !isIdle && { allocation }),
  }
  const claims = client.of(resourceClaim)
  // A whole update fails when somebody else has come to use the claim meanwhile.
  const freed =
    isChanged || allocation !== undefined ? await claims.updateStatus({ ...claim, status: kept }, context) : claim
  return isIdle ? claims.update(withoutFinalizer(freed, finalizer), context) : freed
}

/** Users that are no pods stay: nobody here knows whether they are over. */
async function usersLeft(claim: ResourceClaim, tools: ReconcileTools, context: Context): Promise<readonly User[]> {
  const users: User[] = []
  for (const user of claim.status.reservedFor ?? [])
    if (user.apiGroup || user.resource !== 'pods' || (await isUsing(claim, user, tools, context))) users.push(user)
  return users
}

/** Pods that have a node and no word in the claim, which has devices: they were not bound by a scheduler that knows claims. */
function newUsers(
  claim: ResourceClaim,
  users: readonly User[],
  { byIndex: members }: Pick<ReconcileTools, 'byIndex'>,
): User[] {
  if (claim.status.allocation === undefined || isBeingDeleted(claim)) return []
  const known = new Set(users.map(({ uid }) => uid))
  const owner = controllerOf(claim)
  return members(podsByClaim, keyOf(claim))
    .filter(({ metadata: { uid } }) => !known.has(uid) && (owner?.kind !== pod.kind || owner.uid === uid))
    .filter((user) => user.spec.nodeName !== undefined && !isOver(user) && !isBeingDeleted(user))
    .slice(0, reservedForMax - users.length)
    .map(({ metadata: { name, uid } }) => ({ resource: 'pods', name, uid }))
}

/** Whether the very pod is there and not over. The cache may not have seen it yet: what is to be freed is asked for. */
async function isUsing(
  claim: ResourceClaim,
  { name, uid }: Pick<User, 'name' | 'uid'>,
  { client, cached }: Pick<ReconcileTools, 'client' | 'cached'>,
  context: Context,
): Promise<boolean> {
  const namespace = namespaceOf(claim)
  const known = cached(pod, objectKey(namespace, name))
  const found = known?.metadata.uid === uid ? known : await client.of(pod).find(name, namespace, context)
  return found?.metadata.uid === uid && !isOver(found)
}

/** It has ended, or it goes without ever having had a node. */
export const isOver = (target: Pod): boolean =>
  isPodFinished(target) || (isBeingDeleted(target) && target.spec.nodeName === undefined)

/** Claims that the pod names, that were made for it from templates, and that stand for its extended resources. */
const claimsOf = (target: Pod): readonly ObjectKey[] => {
  const { spec, status } = target
  if (spec.resourceClaims === undefined && status.extendedResourceClaimStatus === undefined) return noClaims
  const names = [
    ...(spec.resourceClaims ?? []).map(({ resourceClaimName }) => resourceClaimName),
    ...(status.resourceClaimStatuses ?? []).map(({ resourceClaimName }) => resourceClaimName),
    status.extendedResourceClaimStatus?.resourceClaimName,
  ]
  return names.flatMap((name) => (name === undefined ? [] : [objectKey(namespaceOf(target), name)]))
}

const noClaims: readonly ObjectKey[] = []

// Protection finalizers of PersistentVolumes and PersistentVolumeClaims: a deleted one is kept while it is in use. A
// claim is used by scheduled pods that name it, a volume by the claim that it is bound to.
import {
  claimFinalizer,
  persistentVolumeClaim,
  type PersistentVolumeClaim,
} from '../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume, type PersistentVolume, volumeFinalizer } from '../../api/core/v1/volume/persistent-volume.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { isBeingDeleted, namespaceOf, objectKey, type ApiObject } from '../../api/meta/object.ts'
import type { Plan } from '../runtime/controller.ts'
import { defineController } from '../runtime/controller.ts'
import { hasFinalizer, withFinalizer, withoutFinalizer } from '../../api/meta/finalizers.ts'

export const volumeProtectionController = defineController<PersistentVolume>({
  name: 'pv-protection',
  account: 'pv-protection-controller',
  reconciles: persistentVolume,
  owns: [],
  concerns: (object) => isBeingDeleted(object) || !hasFinalizer(object, volumeFinalizer),
  plan: (object) => protection(persistentVolume, object, volumeFinalizer, object.status.phase === 'Bound'),
})

export const claimProtectionController = defineController<PersistentVolumeClaim>({
  name: 'pvc-protection',
  account: 'pvc-protection-controller',
  reconciles: persistentVolumeClaim,
  owns: [],
  concerns: (object) => isBeingDeleted(object) || !hasFinalizer(object, claimFinalizer),
  watches: [
    {
      kind: pod,
      enqueues({ now, before }) {
        if (before === undefined) return []
        const used = now === undefined ? [] : claimsOf(now as Pod)
        const released = claimsOf(before as Pod).filter((name) => !used.includes(name))
        return released.map((name) => objectKey(namespaceOf(before), name))
      },
    },
  ],
  plan(object, view) {
    const isUsed = () =>
      view.within(pod, namespaceOf(object)).some((each) => claimsOf(each).includes(object.metadata.name))
    return protection(persistentVolumeClaim, object, claimFinalizer, isBeingDeleted(object) && isUsed())
  },
})

/** The claims that a pod uses. A pod without a node uses none, since no kubelet has mounted them. */
const claimsOf = ({ metadata, spec }: Pod): string[] =>
  spec.nodeName === undefined
    ? []
    : (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim: claim, ephemeral }) => {
        if (claim !== undefined) return [claim.claimName]
        return ephemeral === undefined ? [] : [`${metadata.name}-${name}`]
      })

/** Adds the finalizer to an object that is not being deleted, and removes it from one that is and is not in use. */
export function protection<T extends ApiObject>(kind: Kind<T>, object: T, finalizer: string, isUsed: boolean): Plan {
  const isProtected = hasFinalizer(object, finalizer)
  const isEnding = isBeingDeleted(object)
  if (isEnding ? !isProtected || isUsed : isProtected) return { changes: [] }
  const next = isEnding ? withoutFinalizer(object, finalizer) : withFinalizer(object, finalizer)
  return { changes: [{ kind: 'update', of: kind as unknown as Kind, object: next }] }
}

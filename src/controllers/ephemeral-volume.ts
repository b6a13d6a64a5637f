// Ephemeral volumes: a claim for each volume of a pod with a claim template. The pod owns the claim, so both end together.
import { append } from '../base/collections/append.ts'
import { persistentVolumeClaim } from '../api/core/v1/volume/persistent-volume-claim.ts'
import { pod, type Pod } from '../api/core/v1/pod/pod.ts'
import { controllerOf, isBeingDeleted, keyOf, namespaceOf, objectKey } from '../api/meta/object.ts'
import type { EventNote } from '../client/events/event-recorder.ts'
import { defineController, type Change, type Plan, type PlanView } from './runtime/controller.ts'

type Volume = NonNullable<Pod['spec']['volumes']>[number]

export const ephemeralVolumeController = defineController<Pod>({
  name: 'ephemeral-volume',
  account: 'ephemeral-volume-controller',
  component: 'ephemeral_volume',
  reconciles: pod,
  owns: [persistentVolumeClaim],
  concerns: ({ spec: { volumes } }) =>
    volumes !== undefined && volumes.some(({ ephemeral }) => ephemeral !== undefined),
  plan(object, view) {
    if (isBeingDeleted(object)) return { changes: [] }
    const changes: Change[] = []
    for (const volume of object.spec.volumes ?? []) {
      const { changes: own, events } = planVolume(object, volume, view)
      append(changes, own)
      // As upstream, the volumes after one with a conflict get no claims.
      if (events !== undefined) return { changes, events }
    }
    return { changes }
  },
  measure({ plan: { changes }, failure }, { ephemeralClaims, ephemeralClaimFailures }) {
    ephemeralClaims.add({}, changes.length)
    if (failure !== undefined) ephemeralClaimFailures.add({})
  },
})

function planVolume(owner: Pod, { name: volume, ephemeral }: Volume, view: PlanView): Plan {
  const template = ephemeral?.volumeClaimTemplate
  if (template === undefined) return { changes: [] }
  const name = `${owner.metadata.name}-${volume}`
  const found = view.find(persistentVolumeClaim, objectKey(namespaceOf(owner), name))
  if (found !== undefined) {
    const isOwn = controllerOf(found)?.uid === owner.metadata.uid
    const why = `PVC ${keyOf(found)} was not created for pod ${keyOf(owner)} (pod is not owner)`
    return isOwn ? { changes: [] } : { changes: [], events: [failed(volume, why)] }
  }
  const { labels, annotations } = template.metadata ?? {}
  const metadata = { name, ...(labels && { labels }), ...(annotations && { annotations }) }
  return {
    changes: [
      {
        kind: 'create',
        of: persistentVolumeClaim,
        object: { metadata, spec: template.spec },
        failureEvent: ({ message }) => failed(volume, `create PVC ${name}: ${message}`),
      },
    ],
  }
}

const failed = (volume: string, why: string): EventNote => ({
  type: 'Warning',
  reason: 'FailedBinding',
  message: `ephemeral volume ${volume}: ${why}`,
})

// The next step for a claim: bind it, wait for a volume, a provisioner or a pod, or report it lost.
import {
  annotationOf,
  bindingAnnotations,
  classNameOf,
  namesClass,
  refersTo,
} from '../../api/core/v1/volume/claim-binding.ts'
import type { PersistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import type { StorageClass } from '../../api/storage/v1/storage-class.ts'
import type { EventNote } from '../../client/events/event-recorder.ts'
import { bindStep } from './bind-step.ts'
import { claimWithDriver, provisioningBy } from './provisioners.ts'
import { claimStatusStep, normal, rest, statusWithoutVolume, warning, type Step } from './step.ts'
import { mismatch } from '../../api/core/v1/volume/volume-matching.ts'

const { bindCompleted, provisioner, provisionerBeta, selectedNode } = bindingAnnotations

/** What a decision about a claim reads. */
export interface ClaimView {
  volume(name: string): PersistentVolume | undefined
  matchFor(claim: PersistentVolumeClaim, isDelayed: boolean): PersistentVolume | undefined
  storageClass(name: string): StorageClass | undefined
  defaultClass(): StorageClass | undefined
  /** The names of pods without a node that use the claim. */
  unscheduledPods(claim: PersistentVolumeClaim): readonly string[]
}

export function claimStep(claim: PersistentVolumeClaim, view: ClaimView): Step {
  const marked = claimWithDriver(claim)
  if (marked !== claim) return { kind: 'claim', claim: marked }
  if (annotationOf(claim, bindCompleted) !== undefined) return boundClaimStep(claim, view)
  return claim.spec.volumeName ? namedVolumeStep(claim, claim.spec.volumeName, view) : anyVolumeStep(claim, view)
}

/** Whether only the scheduler chooses a volume for the claim, or a node on which it is provisioned. */
export const isDelayed = (claim: PersistentVolumeClaim, view: Pick<ClaimView, 'storageClass'>): boolean =>
  view.storageClass(classNameOf(claim))?.volumeBindingMode === 'WaitForFirstConsumer'

function boundClaimStep(claim: PersistentVolumeClaim, view: ClaimView): Step {
  const { volumeName } = claim.spec
  if (!volumeName)
    return lost(claim, 'ClaimLost', 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!')
  const volume = view.volume(volumeName)
  if (volume === undefined)
    return lost(claim, 'ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!')
  const { claimRef } = volume.spec
  if (claimRef === undefined || claimRef.uid === claim.metadata.uid) return bindStep(volume, claim)
  return lost(claim, 'ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly')
}

const lost = (claim: PersistentVolumeClaim, reason: string, message: string): Step =>
  claimStatusStep(claim, statusWithoutVolume(claim, 'Lost'), warning(reason, message)) ?? rest()

function namedVolumeStep(claim: PersistentVolumeClaim, name: string, view: ClaimView): Step {
  const volume = view.volume(name)
  if (volume === undefined) return pending(claim)
  if (refersTo(volume, claim)) return bindStep(volume, claim)
  if (volume.spec.claimRef !== undefined)
    return pending(
      claim,
      warning('FailedBinding', `volume ${JSON.stringify(name)} already bound to a different claim.`),
    )
  const problem = mismatch(volume, claim)
  if (problem === undefined) return bindStep(volume, claim)
  return pending(
    claim,
    warning('VolumeMismatch', `Cannot bind to requested volume ${JSON.stringify(name)}: ${problem}`),
  )
}

function anyVolumeStep(claim: PersistentVolumeClaim, view: ClaimView): Step {
  const delayed = isDelayed(claim, view)
  const volume = view.matchFor(claim, delayed)
  if (volume !== undefined) return bindStep(volume, claim)
  const assigned = namesClass(claim) ? undefined : view.defaultClass()
  if (assigned !== undefined)
    return {
      kind: 'claim',
      assignsClass: true,
      claim: { ...claim, spec: { ...claim.spec, storageClassName: assigned.metadata.name } },
    }
  if (delayed && annotationOf(claim, selectedNode) === undefined)
    return pending(claim, consumerAwaited(view.unscheduledPods(claim)))
  if (classNameOf(claim) !== '') return provisioningStep(claim, view)
  return pending(
    claim,
    normal('FailedBinding', 'no persistent volumes available for this claim and no storage class is set'),
  )
}

function consumerAwaited(pods: readonly string[]): EventNote {
  if (pods.length === 0)
    return normal('WaitForFirstConsumer', 'waiting for first consumer to be created before binding')
  const noun = pods.length === 1 ? 'pod' : 'pods'
  return normal('WaitForPodScheduled', `waiting for ${noun} ${pods.join(',')} to be scheduled`)
}

function provisioningStep(claim: PersistentVolumeClaim, view: ClaimView): Step {
  const className = classNameOf(claim)
  const found = view.storageClass(className)
  if (found === undefined)
    return pending(
      claim,
      warning('ProvisioningFailed', `storageclass.storage.k8s.io ${JSON.stringify(className)} not found`),
    )
  const provisioning = provisioningBy(found.provisioner)
  const { provisioner: by } = provisioning
  if (by !== undefined && [provisioner, provisionerBeta].some((name) => annotationOf(claim, name) !== by)) {
    const annotations = { ...claim.metadata.annotations, [provisioner]: by, [provisionerBeta]: by }
    return { kind: 'claim', claim: claimWithDriver({ ...claim, metadata: { ...claim.metadata, annotations } }) }
  }
  if (provisioning.kind === 'impossible') return pending(claim, warning('ProvisioningFailed', provisioning.why))
  const message = `Waiting for a volume to be created either by the external provisioner '${by}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`
  return pending(claim, normal('ExternalProvisioning', message))
}

const pending = (claim: PersistentVolumeClaim, note?: EventNote): Step =>
  claimStatusStep(claim, statusWithoutVolume(claim, 'Pending')) ??
  rest(...(note === undefined ? [] : [{ about: claim, note }]))

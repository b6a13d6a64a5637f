// The provisioner: creates volumes for claims of its driver. volume-deletion.ts deletes released volumes. Upstream:
// external-provisioner.
import type { Context } from '../../../base/observability/context.ts'
import { bindingAnnotations } from '../../../api/core/v1/volume/claim-binding.ts'
import { node } from '../../../api/core/v1/node/node.ts'
import {
  persistentVolumeClaim,
  type PersistentVolumeClaim,
} from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import { ignoring } from '../../../api/errors/status-error.ts'
import { keyOf, namespaceOf, type ObjectKey } from '../../../api/meta/object.ts'
import { csiNode } from '../../../api/storage/v1/csi-node.ts'
import { storageClass, type StorageClass } from '../../../api/storage/v1/storage-class.ts'
import { volumeAttachment } from '../../../api/storage/v1/volume-attachment.ts'
import { volumeAttributesClass } from '../../../api/storage/v1/volume-attributes-class.ts'
import type { EventNote } from '../../../client/events/event-recorder.ts'
import { controllerService } from '../../../machine/csi/methods.ts'
import { driverErrorText, hasCode, isAmbiguous } from '../sidecar/driver-connection.ts'
import { removeFinalizer } from '../sidecar/finalizers.ts'
import { storageBytes } from '../sidecar/quantities.ts'
import { secretValues } from '../sidecar/secrets.ts'
import { watch, type Sidecar, type SidecarTools } from '../sidecar/sidecar.ts'
import { isClaimOf, selectedNodeOf, volumeNameOf } from '../../provisioning/provisioning.ts'
import { accessibilityRequirements } from './claim-topology.ts'
import { cloningFinalizer, contentSource } from './content-source.ts'
import { syncVolume } from './volume-deletion.ts'
import { secretOf, volumeObject, volumeRequest, type VolumeParts } from './volume-object.ts'

export interface ProvisionerOptions {
  readonly hasExtraMetadata?: boolean
}

const claimPrefix = 'claim '
const volumePrefix = 'volume '

export const provisioner =
  (options: ProvisionerOptions = {}) =>
  (tools: SidecarTools): Sidecar => {
    const runner = new Provisioner(tools, options)
    return {
      name: 'external-provisioner',
      watches: [
        watch(persistentVolumeClaim, ({ key }) => [`${claimPrefix}${key}`]),
        watch(persistentVolume, ({ key }) => [`${volumePrefix}${key}`]),
        watch(storageClass, (change) => runner.claimsOfClass(change.key)),
        watch(volumeAttachment, ({ now, before }) => {
          const name = before?.spec.source.persistentVolumeName
          return now === undefined && name !== undefined ? [`${volumePrefix}${name}`] : []
        }),
        watch(csiNode, () => []),
        watch(node, () => []),
      ],
      reconcile: (key, context) =>
        key.startsWith(claimPrefix)
          ? runner.syncClaim(key.slice(claimPrefix.length), context)
          : syncVolume(tools, key.slice(volumePrefix.length), context),
    }
  }

/** Kinds of data sources that a provisioner fills volumes from; other kinds are left to volume populators. */
const dataSourceKinds = ['PersistentVolumeClaim', 'VolumeSnapshot']

function mustProvision(claim: PersistentVolumeClaim, { volumeBindingMode }: StorageClass, driverName: string): boolean {
  const source = claim.spec.dataSourceRef ?? claim.spec.dataSource
  if (!isClaimOf(claim, driverName) || (source !== undefined && !dataSourceKinds.includes(source.kind))) return false
  return volumeBindingMode !== 'WaitForFirstConsumer' || selectedNodeOf(claim) !== undefined
}

class Provisioner {
  readonly #tools: SidecarTools
  readonly #options: ProvisionerOptions
  /**
   * Claims whose volume may exist although no PersistentVolume does. They are provisioned even after the claim was
   * deleted, because the volume would be lost otherwise.
   */
  readonly #inProgress = new Map<ObjectKey, PersistentVolumeClaim>()

  constructor(tools: SidecarTools, options: ProvisionerOptions) {
    this.#tools = tools
    this.#options = options
  }

  claimsOfClass(name: string): readonly ObjectKey[] {
    const claims = this.#tools.informers.of(persistentVolumeClaim).all()
    return [...claims]
      .filter(({ spec }) => spec.storageClassName === name && !spec.volumeName)
      .map((claim) => `${claimPrefix}${keyOf(claim)}`)
  }

  async syncClaim(key: ObjectKey, context: Context): Promise<undefined> {
    const { informers, driver } = this.#tools
    const current = informers.of(persistentVolumeClaim).get(key)
    const pending = this.#inProgress.get(key)
    const claim =
      current !== undefined && pending?.metadata.uid === current.metadata.uid ? current : (pending ?? current)
    if (claim === undefined) return
    const found = informers.of(storageClass).get(claim.spec.storageClassName ?? '')
    const isProvisioned = informers.of(persistentVolume).get(volumeNameOf(claim)) !== undefined
    if (isProvisioned) this.#inProgress.delete(key)
    if (isProvisioned || found === undefined || !mustProvision(claim, found, driver.name)) return
    try {
      await this.#provision(claim, found, context)
      this.#inProgress.delete(key)
    } catch (error) {
      context.signal.throwIfAborted()
      const message = `failed to provision volume with StorageClass "${found.metadata.name}": ${driverErrorText(error)}`
      this.#record(claim, { type: 'Warning', reason: 'ProvisioningFailed', message }, context)
      const mayReschedule = selectedNodeOf(claim) !== undefined && this.#hasTopology()
      if (isAmbiguous(error)) this.#inProgress.set(key, claim)
      else this.#inProgress.delete(key)
      if (mayReschedule && hasCode(error, 'RESOURCE_EXHAUSTED')) await this.#reschedule(claim, context)
      throw error
    }
  }

  #hasTopology(): boolean {
    return this.#tools.driver.capabilities.has('VOLUME_ACCESSIBILITY_CONSTRAINTS')
  }

  async #provision(claim: PersistentVolumeClaim, found: StorageClass, context: Context): Promise<void> {
    const { client, driver } = this.#tools
    const parts: VolumeParts = {
      driverName: driver.name,
      claim,
      storageClass: found,
      hasMultiWriter: driver.capabilities.has('SINGLE_NODE_MULTI_WRITER'),
      hasExtraMetadata: this.#options.hasExtraMetadata ?? false,
    }
    const message = `External provisioner is provisioning volume for claim "${keyOf(claim)}"`
    this.#record(claim, { type: 'Normal', reason: 'Provisioning', message }, context)
    const source = await contentSource({ client, driverName: driver.name, claim }, context)
    const request = {
      ...volumeRequest(parts),
      secrets: await secretValues(client, secretOf(parts, 'provisioner'), context),
      ...(source === undefined ? {} : { volumeContentSource: source }),
      ...this.#accessibility(claim, found),
      ...(await this.#mutableParameters(claim, context)),
    }
    const { volume } = await driver.call(controllerService.createVolume, request, context)
    if (volume === undefined) throw new Error('the driver returned no volume')
    const requested = storageBytes(claim.spec.resources?.requests)
    if (volume.capacityBytes !== 0 && volume.capacityBytes < requested) {
      await driver.call(
        controllerService.deleteVolume,
        { volumeId: volume.volumeId, secrets: request.secrets },
        context,
      )
      throw new Error(`created volume capacity ${volume.capacityBytes} less than requested capacity ${requested}`)
    }
    await this.#createObject(parts, volumeObject(parts, volume), context)
    if (source?.volume !== undefined) await this.#releaseSource(claim, context)
  }

  #accessibility(claim: PersistentVolumeClaim, { allowedTopologies = [] }: StorageClass) {
    const { informers, driver } = this.#tools
    if (!this.#hasTopology()) return {}
    const requirements = accessibilityRequirements({
      driverName: driver.name,
      nodes: [...informers.of(node).all()],
      csiNodes: [...informers.of(csiNode).all()],
      allowedTopologies,
      selectedNode: selectedNodeOf(claim),
      seed: claim.metadata.uid,
    })
    return requirements === undefined ? {} : { accessibilityRequirements: requirements }
  }

  async #mutableParameters({ spec }: PersistentVolumeClaim, context: Context) {
    const { client, driver } = this.#tools
    const name = spec.volumeAttributesClassName
    if (!name || !driver.capabilities.has('MODIFY_VOLUME')) return {}
    const found = await client.of(volumeAttributesClass).get(name, context)
    if (found.driverName !== driver.name)
      throw new Error(`VAC ${name} has driver ${found.driverName}, not ${driver.name}`)
    return { mutableParameters: found.parameters ?? {} }
  }

  /** The driver's volume exists: the object is created even if that needs several attempts. */
  async #createObject(
    { claim }: VolumeParts,
    object: ReturnType<typeof volumeObject>,
    context: Context,
  ): Promise<void> {
    this.#inProgress.set(keyOf(claim), claim)
    await this.#tools.client.of(persistentVolume).create(object, context).catch(ignoring('AlreadyExists'))
    const message = `Successfully provisioned volume ${volumeNameOf(claim)}`
    this.#record(claim, { type: 'Normal', reason: 'ProvisioningSucceeded', message }, context)
  }

  /** The source of a complete clone may be deleted, unless another claim clones it. */
  async #releaseSource(clone: PersistentVolumeClaim, context: Context): Promise<void> {
    const { client, informers } = this.#tools
    const name = clone.spec.dataSource?.name ?? ''
    const isNeeded = [...informers.of(persistentVolumeClaim).all()].some(
      (other) =>
        other.metadata.uid !== clone.metadata.uid &&
        namespaceOf(other) === namespaceOf(clone) &&
        other.spec.dataSource?.kind === 'PersistentVolumeClaim' &&
        other.spec.dataSource.name === name &&
        !other.spec.volumeName,
    )
    const source = await client.of(persistentVolumeClaim).find(name, namespaceOf(clone), context)
    if (!isNeeded && source !== undefined)
      await removeFinalizer(client, persistentVolumeClaim, source, cloningFinalizer, context)
  }

  /** Lets the scheduler select another node. */
  async #reschedule(claim: PersistentVolumeClaim, context: Context): Promise<void> {
    const annotations = { [bindingAnnotations.selectedNode]: null }
    await this.#tools.client
      .of(persistentVolumeClaim)
      .patch(claim.metadata.name, namespaceOf(claim), { metadata: { annotations } }, 'merge', context)
  }

  #record(about: PersistentVolumeClaim, note: EventNote, context: Context): void {
    this.#tools.events.record(about, note, context)
  }
}

// The resizer: expands volumes when claims request more, and changes their attributes. Upstream: external-resizer.
import type { Context } from '../../../base/observability/context.ts'
import { rfc3339 } from '../../../base/time/clock.ts'
import {
  persistentVolumeClaim,
  type PersistentVolumeClaim,
} from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume, type PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import { namespaceOf, objectKey, type ObjectKey } from '../../../api/meta/object.ts'
import { volumeAttributesClass } from '../../../api/storage/v1/volume-attributes-class.ts'
import { controllerService } from '../../../machine/csi/methods.ts'
import { capabilityOf, publishedMode } from '../sidecar/access-modes.ts'
import { driverErrorText, hasCode } from '../sidecar/driver-connection.ts'
import { bytesText, storageBytes } from '../sidecar/quantities.ts'
import { secretValues } from '../sidecar/secrets.ts'
import { isChanged, watch, type Sidecar, type SidecarTools } from '../sidecar/sidecar.ts'
import { decideModify, modifiedStatus, modifyStatus } from './modify-decision.ts'
import {
  decideResize,
  failedStatus,
  nodePendingStatus,
  resizedStatus,
  startedStatus,
  type StatusPatch,
} from './resize-decision.ts'

/** The size before an expansion that the node must complete. */
const previousCapacityAnnotation = 'volume.alpha.kubernetes.io/pre-resize-capacity'
/** How long an expansion or a change that the driver has rejected for good is not tried again. */
const infeasibleRetryMs = 300_000

const isInfeasible = (error: unknown): boolean => hasCode(error, 'INVALID_ARGUMENT', 'OUT_OF_RANGE', 'NOT_FOUND')

export const resizer = (tools: SidecarTools): Sidecar => {
  const runner = new Resizer(tools)
  return {
    name: 'external-resizer',
    watches: [
      watch(persistentVolumeClaim, (change) => {
        const isRelevant = isChanged(change, ({ spec, status }) => [spec, status.phase, status.capacity])
        return isRelevant ? [change.key] : []
      }),
      watch(persistentVolume, ({ now }) => {
        const { namespace = '', name = '' } = now?.spec.claimRef ?? {}
        return name === '' ? [] : [objectKey(namespace, name)]
      }),
      watch(volumeAttributesClass, ({ key }) => runner.claimsOfClass(key)),
    ],
    reconcile: (key, context) => runner.sync(key, context),
  }
}

class Resizer {
  readonly #tools: SidecarTools

  constructor(tools: SidecarTools) {
    this.#tools = tools
  }

  claimsOfClass(name: string): readonly ObjectKey[] {
    return [...this.#tools.informers.of(persistentVolumeClaim).all()]
      .filter(({ spec }) => spec.volumeAttributesClassName === name)
      .map(({ metadata }) => objectKey(metadata.namespace ?? '', metadata.name))
  }

  async sync(key: ObjectKey, context: Context): Promise<number | undefined> {
    const { informers, driver } = this.#tools
    const claim = informers.of(persistentVolumeClaim).get(key)
    const volume = informers.of(persistentVolume).get(claim?.spec.volumeName ?? '')
    if (claim === undefined || volume?.spec.csi?.driver !== driver.name) return undefined
    if (volume.spec.claimRef?.uid !== claim.metadata.uid) return undefined
    const resizeMs = await this.#resize(claim, volume, context)
    const modifyMs = await this.#modify(claim, volume, context)
    return resizeMs ?? modifyMs
  }

  async #resize(claim: PersistentVolumeClaim, volume: PersistentVolume, context: Context): Promise<number | undefined> {
    const { driver } = this.#tools
    const decision = decideResize(claim, volume)
    if (decision.kind === 'none' || !driver.capabilities.has('EXPAND_VOLUME')) return undefined
    const { bytes } = decision
    if (decision.kind === 'finish') {
      await this.#patchStatus(claim, resizedStatus(claim.status, bytes, this.#now()), context)
      return undefined
    }
    const { name } = volume.metadata
    const started = await this.#patchStatus(claim, startedStatus(claim.status, bytes, this.#now()), context)
    this.#record(claim, 'Normal', 'Resizing', `External resizer is resizing volume ${name}`, context)
    try {
      const { capacityBytes, nodeExpansionRequired } = await this.#expand(volume, bytes, context)
      await this.#patchVolume(volume, capacityBytes, nodeExpansionRequired, context)
      const { status } = started
      if (nodeExpansionRequired) {
        await this.#patchStatus(claim, nodePendingStatus(status, this.#now()), context)
        const message = 'Require file system resize of volume on node'
        this.#record(claim, 'Normal', 'FileSystemResizeRequired', message, context)
      } else {
        await this.#patchStatus(claim, resizedStatus(status, capacityBytes, this.#now()), context)
        this.#record(claim, 'Normal', 'VolumeResizeSuccessful', 'Resize volume succeeded', context)
      }
      return undefined
    } catch (error) {
      context.signal.throwIfAborted()
      const message = `resize volume "${name}" by resizer "${driver.name}" failed: ${driverErrorText(error)}`
      this.#record(claim, 'Warning', 'VolumeResizeFailed', message, context)
      const failed = failedStatus(started.status, driverErrorText(error), isInfeasible(error), this.#now())
      await this.#patchStatus(claim, failed, context)
      if (isInfeasible(error)) return infeasibleRetryMs
      throw error
    }
  }

  async #expand({ spec }: PersistentVolume, bytes: number, context: Context) {
    const { client, driver } = this.#tools
    const { capacityBytes, nodeExpansionRequired } = await driver.call(
      controllerService.controllerExpandVolume,
      {
        volumeId: spec.csi?.volumeHandle ?? '',
        capacityRange: { requiredBytes: bytes },
        secrets: await secretValues(client, spec.csi?.controllerExpandSecretRef, context),
        volumeCapability: capabilityOf(publishedMode(spec.accessModes ?? []), {
          isBlock: spec.volumeMode === 'Block',
          fsType: spec.csi?.fsType ?? '',
          mountFlags: spec.mountOptions ?? [],
          hasMultiWriter: driver.capabilities.has('SINGLE_NODE_MULTI_WRITER'),
        }),
      },
      context,
    )
    return { capacityBytes: Math.max(capacityBytes, bytes), nodeExpansionRequired }
  }

  async #patchVolume(
    { metadata, spec }: PersistentVolume,
    bytes: number,
    mustExpandOnNode: boolean,
    context: Context,
  ): Promise<void> {
    const annotations = { [previousCapacityAnnotation]: bytesText(storageBytes(spec.capacity)) }
    const patch = {
      ...(mustExpandOnNode ? { metadata: { annotations } } : {}),
      spec: { capacity: { storage: bytesText(bytes) } },
    }
    await this.#tools.client.of(persistentVolume).patch(metadata.name, patch, 'strategic', context)
  }

  async #modify(claim: PersistentVolumeClaim, volume: PersistentVolume, context: Context): Promise<number | undefined> {
    const { client, informers, driver } = this.#tools
    const decision = decideModify(claim, (name) => informers.of(volumeAttributesClass).get(name), driver.name)
    if (decision.kind === 'none' || !driver.capabilities.has('MODIFY_VOLUME')) return undefined
    const { target } = decision
    if (decision.kind === 'pending') {
      if (claim.status.modifyVolumeStatus?.targetVolumeAttributesClassName !== target) {
        this.#record(claim, 'Warning', 'VolumeModifyFailed', decision.message, context)
        await this.#patchStatus(claim, modifyStatus(claim, target, 'Pending', '', this.#now()), context)
      }
      return undefined
    }
    const started = await this.#patchStatus(claim, modifyStatus(claim, target, 'InProgress', '', this.#now()), context)
    this.#record(
      claim,
      'Normal',
      'VolumeModify',
      `external resizer is modifying volume ${claim.metadata.name} with vac ${target}`,
      context,
    )
    try {
      const { parameters: mutableParameters } = decision
      const volumeId = volume.spec.csi?.volumeHandle ?? ''
      await driver.call(controllerService.controllerModifyVolume, { volumeId, mutableParameters }, context)
      const patch = { spec: { volumeAttributesClassName: target } }
      await client.of(persistentVolume).patch(volume.metadata.name, patch, 'strategic', context)
      await this.#patchStatus(claim, modifiedStatus(started, target), context)
      const message = `external resizer modified volume ${claim.metadata.name} with vac ${target} successfully`
      this.#record(claim, 'Normal', 'VolumeModifySuccessful', message, context)
      return undefined
    } catch (error) {
      context.signal.throwIfAborted()
      const text = driverErrorText(error)
      this.#record(claim, 'Warning', 'VolumeModifyFailed', text, context)
      const progress = isInfeasible(error) ? 'Infeasible' : 'InProgress'
      await this.#patchStatus(claim, modifyStatus(started, target, progress, text, this.#now()), context)
      if (isInfeasible(error)) return infeasibleRetryMs
      throw error
    }
  }

  #now(): string {
    return rfc3339(this.#tools.clock.nowMs())
  }

  #patchStatus(claim: PersistentVolumeClaim, status: StatusPatch, context: Context): Promise<PersistentVolumeClaim> {
    return this.#tools.client
      .of(persistentVolumeClaim)
      .patch(claim.metadata.name, namespaceOf(claim), { status }, 'merge', context, 'status')
  }

  #record(
    claim: PersistentVolumeClaim,
    type: 'Normal' | 'Warning',
    reason: string,
    message: string,
    context: Context,
  ): void {
    this.#tools.events.record(claim, { type, reason, message }, context)
  }
}

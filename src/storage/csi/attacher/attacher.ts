// The attacher: attaches the volumes of VolumeAttachments with ControllerPublishVolume, and detaches them when the object
// is deleted. Upstream: external-attacher.
import type { Context } from '../../../base/observability/context.ts'
import { rfc3339 } from '../../../base/time/clock.ts'
import { grpcCodes, GrpcError } from '../../../wire/grpc/grpc-status.ts'
import { persistentVolume, type PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import { isBeingDeleted } from '../../../api/meta/object.ts'
import { csiNode } from '../../../api/storage/v1/csi-node.ts'
import {
  volumeAttachment,
  type VolumeAttachment,
  type VolumeAttachmentStatus,
} from '../../../api/storage/v1/volume-attachment.ts'
import { controllerService } from '../../../machine/csi/methods.ts'
import { capabilityOf, publishedMode } from '../sidecar/access-modes.ts'
import { driverErrorText } from '../sidecar/driver-connection.ts'
import { hasFinalizer } from '../../../api/meta/finalizers.ts'
import { addFinalizer, removeFinalizer } from '../sidecar/finalizers.ts'
import { secretValues } from '../sidecar/secrets.ts'
import { isChanged, watch, type Sidecar, type SidecarTools } from '../sidecar/sidecar.ts'

const attachmentPrefix = 'attachment '
const volumePrefix = 'volume '
/** Where the driver's id of the node is kept, because CSINode may be gone when the volume is detached. */
const nodeIdAnnotation = 'csi.alpha.kubernetes.io/node-id'
/** The API accepts this many characters. */
const errorCharactersMax = 1024

/** `external-attacher/csi-example-com` for the driver csi.example.com. */
export function attacherFinalizer(driverName: string): string {
  const name = driverName.replaceAll(/[^a-zA-Z0-9-]/g, '-')
  return `external-attacher/${name.endsWith('-') ? `${name}X` : name}`
}

export const attacher = (tools: SidecarTools): Sidecar => {
  const runner = new Attacher(tools)
  return {
    name: 'external-attacher',
    watches: [
      watch(volumeAttachment, (change) => {
        const { key, now, before } = change
        const isRelevant = isChanged(change, ({ metadata, status }) => [metadata.deletionTimestamp, status.attached])
        if (!isRelevant) return []
        const volume = (now ?? before)?.spec.source.persistentVolumeName
        return [`${attachmentPrefix}${key}`, ...(volume === undefined ? [] : [`${volumePrefix}${volume}`])]
      }),
      watch(persistentVolume, ({ key }) => [`${volumePrefix}${key}`]),
      watch(csiNode, () => []),
    ],
    reconcile: (key, context) =>
      key.startsWith(attachmentPrefix)
        ? runner.syncAttachment(key.slice(attachmentPrefix.length), context)
        : runner.syncVolume(key.slice(volumePrefix.length), context),
  }
}

class Attacher {
  readonly #tools: SidecarTools
  readonly #finalizer: string

  constructor(tools: SidecarTools) {
    this.#tools = tools
    this.#finalizer = attacherFinalizer(tools.driver.name)
  }

  async syncAttachment(name: string, context: Context): Promise<undefined> {
    const { informers, driver } = this.#tools
    const attachment = informers.of(volumeAttachment).get(name)
    if (attachment === undefined || attachment.spec.attacher !== driver.name) return
    const isLeaving = isBeingDeleted(attachment)
    if (isLeaving ? !hasFinalizer(attachment, this.#finalizer) : attachment.status.attached) return
    try {
      await (isLeaving ? this.#detach(attachment, context) : this.#attach(attachment, context))
    } catch (error) {
      context.signal.throwIfAborted()
      await this.#reportError(attachment, isLeaving ? 'detachError' : 'attachError', error, context)
      throw error
    }
  }

  /** Removes the finalizer of a volume that is being deleted and is not attached. */
  async syncVolume(name: string, context: Context): Promise<undefined> {
    const { client, informers } = this.#tools
    const volume = informers.of(persistentVolume).get(name)
    if (volume === undefined || !isBeingDeleted(volume) || !hasFinalizer(volume, this.#finalizer)) return
    const attachments = [...informers.of(volumeAttachment).all()]
    if (attachments.some(({ spec }) => spec.source.persistentVolumeName === name)) return
    await removeFinalizer(client, persistentVolume, volume, this.#finalizer, context)
  }

  async #attach(attachment: VolumeAttachment, context: Context): Promise<void> {
    const { client, driver } = this.#tools
    if (!driver.capabilities.has('PUBLISH_UNPUBLISH_VOLUME'))
      return this.#patchStatus(attachment, { attached: true, attachError: null }, context)
    const nodeId = this.#nodeIdOf(attachment)
    const volume = await this.#volumeOf(attachment, context)
    if (isBeingDeleted(volume)) throw new Error(`PersistentVolume ${volume.metadata.name} is marked for deletion`)
    await addFinalizer(client, persistentVolume, volume, this.#finalizer, context)
    const annotated = await this.#annotate(attachment, nodeId, context)
    const marked = await addFinalizer(client, volumeAttachment, annotated, this.#finalizer, context)
    const { publishContext } = await driver.call(
      controllerService.controllerPublishVolume,
      {
        volumeId: volume.spec.csi?.volumeHandle ?? '',
        nodeId,
        volumeCapability: capabilityOf(publishedMode(volume.spec.accessModes ?? []), {
          isBlock: volume.spec.volumeMode === 'Block',
          fsType: volume.spec.csi?.fsType ?? '',
          mountFlags: volume.spec.mountOptions ?? [],
          hasMultiWriter: driver.capabilities.has('SINGLE_NODE_MULTI_WRITER'),
        }),
        readonly: driver.capabilities.has('PUBLISH_READONLY') && (volume.spec.csi?.readOnly ?? false),
        secrets: await secretValues(client, volume.spec.csi?.controllerPublishSecretRef, context),
        volumeContext: volume.spec.csi?.volumeAttributes ?? {},
      },
      context,
    )
    const status = { attached: true, attachmentMetadata: { ...publishContext }, attachError: null, detachError: null }
    await this.#patchStatus(marked, status, context)
  }

  async #detach(attachment: VolumeAttachment, context: Context): Promise<void> {
    const { client, driver } = this.#tools
    const volume = await this.#volumeOf(attachment, context)
    await driver.call(
      controllerService.controllerUnpublishVolume,
      {
        volumeId: volume.spec.csi?.volumeHandle ?? '',
        nodeId: this.#nodeIdOf(attachment),
        secrets: await secretValues(client, volume.spec.csi?.controllerPublishSecretRef, context),
      },
      context,
    )
    const name = attachment.metadata.name
    const status = { attached: false, attachmentMetadata: null, attachError: null, detachError: null }
    const detached = await client.of(volumeAttachment).patch(name, { status }, 'merge', context, 'status')
    await removeFinalizer(client, volumeAttachment, detached, this.#finalizer, context)
  }

  async #volumeOf({ spec }: VolumeAttachment, context: Context): Promise<PersistentVolume> {
    const { client, driver } = this.#tools
    const name = spec.source.persistentVolumeName
    if (name === undefined) throw new Error('inline volumes are not attached')
    const volume = await client.of(persistentVolume).get(name, context)
    if (volume.spec.csi?.driver !== driver.name) throw new Error(`volume ${name} is not of the driver ${driver.name}`)
    return volume
  }

  #nodeIdOf({ spec, metadata }: VolumeAttachment): string {
    const { informers, driver } = this.#tools
    const drivers = informers.of(csiNode).get(spec.nodeName)?.spec.drivers
    const id = drivers?.find(({ name }) => name === driver.name)?.nodeID ?? metadata.annotations?.[nodeIdAnnotation]
    if (id === undefined) throw new Error(`CSINode ${spec.nodeName} does not contain driver ${driver.name}`)
    return id
  }

  async #annotate(attachment: VolumeAttachment, nodeId: string, context: Context): Promise<VolumeAttachment> {
    if (attachment.metadata.annotations?.[nodeIdAnnotation] === nodeId) return attachment
    const annotations = { [nodeIdAnnotation]: nodeId }
    return this.#tools.client
      .of(volumeAttachment)
      .patch(attachment.metadata.name, { metadata: { annotations } }, 'merge', context)
  }

  async #reportError(
    attachment: VolumeAttachment,
    field: 'attachError' | 'detachError',
    error: unknown,
    context: Context,
  ): Promise<void> {
    const message = driverErrorText(error).slice(0, errorCharactersMax)
    const time = rfc3339(this.#tools.clock.nowMs())
    const code = error instanceof GrpcError ? { errorCode: grpcCodes.indexOf(error.code) } : {}
    await this.#patchStatus(attachment, { [field]: { message, time, ...code } }, context)
  }

  async #patchStatus(
    { metadata }: VolumeAttachment,
    status: { readonly [K in keyof VolumeAttachmentStatus]?: VolumeAttachmentStatus[K] | null },
    context: Context,
  ): Promise<void> {
    await this.#tools.client.of(volumeAttachment).patch(metadata.name, { status }, 'merge', context, 'status')
  }
}

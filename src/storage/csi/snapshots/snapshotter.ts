// The snapshotter: makes and deletes the snapshots of VolumeSnapshotContents with its driver. Upstream: csi-snapshotter.
import type { Context } from '../../../base/observability/context.ts'
import { rfc3339 } from '../../../base/time/clock.ts'
import { isBeingDeleted } from '../../../api/meta/object.ts'
import type { snapshot as snapshotMessage } from '../../../machine/csi/messages/snapshot.ts'
import { controllerService } from '../../../machine/csi/methods.ts'
import type { Proto } from '../../../wire/protobuf/proto-message.ts'
import { driverErrorText, isAmbiguous } from '../sidecar/driver-connection.ts'
import { removeFinalizer } from '../sidecar/finalizers.ts'
import { secretValues } from '../sidecar/secrets.ts'
import { isChanged, watch, type Sidecar, type SidecarTools } from '../sidecar/sidecar.ts'
import {
  contentFinalizer,
  contentSecretOf,
  creatingAnnotation,
  deletingAnnotation,
  snapshotNameOf,
  snapshotParameters,
} from './snapshot-decision.ts'
import { volumeSnapshotClass, volumeSnapshotContent, type VolumeSnapshotContent } from './snapshot-kinds.ts'

/** How often a snapshot that is not ready is checked. */
const readyCheckMs = 5_000

export const snapshotter = (tools: SidecarTools): Sidecar => {
  const runner = new Snapshotter(tools)
  return {
    name: 'csi-snapshotter',
    watches: [
      watch(volumeSnapshotContent, (change) => {
        const isRelevant = isChanged(change, ({ metadata, spec }) => [
          metadata.deletionTimestamp,
          metadata.annotations?.[deletingAnnotation],
          spec,
        ])
        return isRelevant ? [change.key] : []
      }),
      watch(volumeSnapshotClass, () => []),
    ],
    reconcile: (key, context) => runner.sync(key, context),
  }
}

class Snapshotter {
  readonly #tools: SidecarTools

  constructor(tools: SidecarTools) {
    this.#tools = tools
  }

  async sync(name: string, context: Context): Promise<number | undefined> {
    const { client, driver } = this.#tools
    const content = await client.of(volumeSnapshotContent).find(name, context)
    if (content === undefined || content.spec.driver !== driver.name) return undefined
    if (!isBeingDeleted(content) && content.status?.readyToUse === true) return undefined
    try {
      if (isBeingDeleted(content)) return await this.#delete(content, context)
      return await this.#create(content, context)
    } catch (error) {
      context.signal.throwIfAborted()
      await this.#reportError(content, driverErrorText(error), context)
      throw error
    }
  }

  async #create(content: VolumeSnapshotContent, context: Context): Promise<number | undefined> {
    const { source } = content.spec
    const found =
      source.snapshotHandle === undefined
        ? await this.#createSnapshot(content, source.volumeHandle ?? '', context)
        : await this.#findSnapshot(source.snapshotHandle, context)
    const { seconds = 0, nanos = 0 } = found.creationTime ?? {}
    const status = {
      snapshotHandle: found.snapshotId,
      creationTime: BigInt(seconds) * 1_000_000_000n + BigInt(nanos),
      restoreSize: found.sizeBytes,
      readyToUse: found.readyToUse,
      error: null,
    }
    await this.#patchStatus(content, status, context)
    return found.readyToUse ? undefined : readyCheckMs
  }

  async #createSnapshot(
    content: VolumeSnapshotContent,
    sourceVolumeId: string,
    context: Context,
  ): Promise<Proto<typeof snapshotMessage>> {
    const { client, driver, informers } = this.#tools
    const className = content.spec.volumeSnapshotClassName ?? ''
    const snapshotClass = informers.of(volumeSnapshotClass).get(className)
    const request = {
      name: snapshotNameOf(content),
      sourceVolumeId,
      parameters: snapshotClass === undefined ? {} : snapshotParameters(snapshotClass),
      secrets: await secretValues(client, contentSecretOf(content), context),
    }
    await this.#annotateCreating(content, 'yes', context)
    try {
      const { snapshot } = await driver.call(controllerService.createSnapshot, request, context)
      if (snapshot === undefined) throw new Error('the driver returned no snapshot')
      await this.#annotateCreating(content, null, context)
      return snapshot
    } catch (error) {
      context.signal.throwIfAborted()
      // The driver has not made a snapshot, so the content may be deleted.
      if (!isAmbiguous(error)) await this.#annotateCreating(content, null, context)
      throw error
    }
  }

  async #findSnapshot(snapshotId: string, context: Context): Promise<Proto<typeof snapshotMessage>> {
    const { driver } = this.#tools
    if (!driver.capabilities.has('LIST_SNAPSHOTS'))
      return {
        snapshotId,
        sourceVolumeId: '',
        sizeBytes: 0,
        creationTime: undefined,
        readyToUse: true,
        groupSnapshotId: '',
      }
    const { entries } = await driver.call(controllerService.listSnapshots, { snapshotId }, context)
    const found = entries[0]?.snapshot
    if (found === undefined) throw new Error(`can not find snapshot for snapshotID ${snapshotId}`)
    return found
  }

  async #delete(content: VolumeSnapshotContent, context: Context): Promise<undefined> {
    const { client, driver } = this.#tools
    const { metadata, spec, status } = content
    const isReleased = spec.volumeSnapshotRef.uid === undefined || metadata.annotations?.[deletingAnnotation] === 'yes'
    if (!isReleased) return
    const snapshotId = status?.snapshotHandle ?? spec.source.snapshotHandle
    if (
      spec.deletionPolicy === 'Delete' &&
      snapshotId === undefined &&
      metadata.annotations?.[creatingAnnotation] === 'yes'
    )
      // The snapshot may have been made: making it again returns its id.
      await this.#create(content, context)
    const current = await client.of(volumeSnapshotContent).get(metadata.name, context)
    const id = current.status?.snapshotHandle ?? snapshotId
    if (spec.deletionPolicy === 'Delete' && id !== undefined) {
      const secrets = await secretValues(client, contentSecretOf(content), context)
      await driver.call(controllerService.deleteSnapshot, { snapshotId: id, secrets }, context)
    }
    await removeFinalizer(client, volumeSnapshotContent, current, contentFinalizer, context)
  }

  async #annotateCreating({ metadata }: VolumeSnapshotContent, value: 'yes' | null, context: Context): Promise<void> {
    const annotations = { [creatingAnnotation]: value }
    await this.#tools.client
      .of(volumeSnapshotContent)
      .patch(metadata.name, { metadata: { annotations } }, 'merge', context)
  }

  async #reportError(content: VolumeSnapshotContent, text: string, context: Context): Promise<void> {
    const { clock, events } = this.#tools
    const [verb, reason] = isBeingDeleted(content)
      ? ['delete', 'SnapshotDeleteError']
      : ['create', 'SnapshotCreationFailed']
    const message = `Failed to ${verb} snapshot: ${text}`
    events.record(content, { type: 'Warning', reason, message }, context)
    if (content.status?.error?.message === message) return
    const error = { time: rfc3339(clock.nowMs()), message }
    await this.#patchStatus(content, { readyToUse: false, error }, context)
  }

  async #patchStatus({ metadata }: VolumeSnapshotContent, status: object, context: Context): Promise<void> {
    await this.#tools.client.of(volumeSnapshotContent).patch(metadata.name, { status }, 'merge', context, 'status')
  }
}

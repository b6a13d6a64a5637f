// The snapshot controller: makes contents for snapshots, binds them, and deletes them together. It calls no driver; the
// snapshotter does. Upstream: snapshot-controller, one per cluster.
import type { Context } from '../../../base/observability/context.ts'
import { rfc3339 } from '../../../base/time/clock.ts'
import { persistentVolumeClaim } from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import { hasReason } from '../../../api/errors/status-error.ts'
import { isBeingDeleted, namespaceOf, objectKey, type ObjectKey } from '../../../api/meta/object.ts'
import { errorText } from '../../../base/observability/log.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import { hasFinalizer } from '../../../api/meta/finalizers.ts'
import { addFinalizer, removeFinalizer } from '../sidecar/finalizers.ts'
import { isChanged, watch, type Sidecar, type ControllerTools } from '../sidecar/sidecar.ts'
import {
  boundFinalizer,
  claimFinalizer,
  classOfSnapshot,
  contentFinalizer,
  contentNameOf,
  contentOf,
  deletingAnnotation,
  isRestoring,
  snapshotStatus,
  sourceFinalizer,
} from './snapshot-decision.ts'
import {
  volumeSnapshot,
  volumeSnapshotClass,
  volumeSnapshotContent,
  type VolumeSnapshot,
  type VolumeSnapshotContent,
} from './snapshot-kinds.ts'

export const snapshotController = (tools: ControllerTools): Sidecar => {
  const runner = new SnapshotController(tools)
  return {
    name: 'snapshot-controller',
    watches: [
      watch(volumeSnapshot, (change) => {
        const isRelevant = isChanged(change, ({ metadata, spec, status }) => [
          metadata.deletionTimestamp,
          metadata.finalizers,
          spec,
          status?.boundVolumeSnapshotContentName,
        ])
        return isRelevant ? [change.key] : []
      }),
      watch(volumeSnapshotContent, ({ now, before }) => {
        const { namespace = '', name = '' } = (now ?? before)?.spec.volumeSnapshotRef ?? {}
        return name === '' ? [] : [objectKey(namespace, name)]
      }),
      watch(volumeSnapshotClass, () => []),
      // A claim that has been restored releases its snapshot.
      watch(persistentVolumeClaim, ({ now, before }) => {
        const claim = now ?? before
        const source = claim?.spec.dataSource
        return claim === undefined || source?.kind !== 'VolumeSnapshot'
          ? []
          : [objectKey(namespaceOf(claim), source.name)]
      }),
      watch(persistentVolume, () => []),
    ],
    reconcile: (key, context) => runner.sync(key, context),
  }
}

class SnapshotController {
  readonly #tools: ControllerTools

  constructor(tools: ControllerTools) {
    this.#tools = tools
  }

  async sync(key: ObjectKey, context: Context): Promise<undefined> {
    const snapshot = this.#tools.informers.of(volumeSnapshot).get(key)
    if (snapshot === undefined) return
    if (isBeingDeleted(snapshot)) return this.#delete(snapshot, context)
    try {
      await this.#bind(snapshot, context)
    } catch (error) {
      context.signal.throwIfAborted()
      await this.#reportError(snapshot, errorText(error), context)
      throw error
    }
  }

  async #bind(snapshot: VolumeSnapshot, context: Context): Promise<void> {
    const { client, informers } = this.#tools
    const first = await addFinalizer(client, volumeSnapshot, snapshot, sourceFinalizer, context)
    const marked = await addFinalizer(client, volumeSnapshot, first, boundFinalizer, context)
    const contents = informers.of(volumeSnapshotContent)
    const given = snapshot.spec.source.volumeSnapshotContentName
    const known = contents.get(given ?? contentNameOf(snapshot))
    if (known === undefined && given !== undefined) throw new Error(`the VolumeSnapshotContent ${given} does not exist`)
    const content = known ?? (await this.#createContent(marked, context))
    const bound = given === undefined ? content : await this.#bindGiven(marked, content, context)
    await this.#writeStatus(marked, bound, context)
    if (bound.status?.snapshotHandle !== undefined) await this.#releaseClaim(marked, context)
  }

  async #createContent(snapshot: VolumeSnapshot, context: Context): Promise<VolumeSnapshotContent> {
    const { client, informers, events } = this.#tools
    const name = snapshot.spec.source.persistentVolumeClaimName ?? ''
    const claim = await client.of(persistentVolumeClaim).get(name, namespaceOf(snapshot), context)
    if (claim.status.phase !== 'Bound' || !claim.spec.volumeName)
      throw new Error(`the PVC ${name} is not yet bound to a PV, will not attempt to take a snapshot`)
    const volume = await client.of(persistentVolume).get(claim.spec.volumeName, context)
    const classes = [...informers.of(volumeSnapshotClass).all()]
    const found = classOfSnapshot(snapshot, volume.spec.csi?.driver ?? '', classes)
    if (found.driver !== volume.spec.csi?.driver)
      throw new Error(`the driver of the class ${found.metadata.name} is not that of the volume`)
    await addFinalizer(client, persistentVolumeClaim, claim, claimFinalizer, context)
    const message = `Waiting for a snapshot ${namespaceOf(snapshot)}/${snapshot.metadata.name} to be created by the CSI driver.`
    events.record(snapshot, { type: 'Normal', reason: 'CreatingSnapshot', message }, context)
    try {
      return await client.of(volumeSnapshotContent).create(contentOf(snapshot, found, volume), context)
    } catch (error) {
      if (!hasReason(error, 'AlreadyExists')) throw error
      return client.of(volumeSnapshotContent).get(contentNameOf(snapshot), context)
    }
  }

  /** Binds a content that an administrator has made to its snapshot. */
  async #bindGiven(
    { metadata }: VolumeSnapshot,
    content: VolumeSnapshotContent,
    context: Context,
  ): Promise<VolumeSnapshotContent> {
    const { name, namespace, uid } = content.spec.volumeSnapshotRef
    const isFor = name === metadata.name && namespace === metadata.namespace
    if (!isFor || (uid !== undefined && uid !== '' && uid !== metadata.uid))
      throw new Error(`VolumeSnapshotContent ${content.metadata.name} is bound to a different VolumeSnapshot`)
    const { client } = this.#tools
    const marked = await addFinalizer(client, volumeSnapshotContent, content, contentFinalizer, context)
    if (uid === metadata.uid) return marked
    const patch = { spec: { volumeSnapshotRef: { uid: metadata.uid } } }
    return client.of(volumeSnapshotContent).patch(content.metadata.name, patch, 'merge', context)
  }

  async #writeStatus(snapshot: VolumeSnapshot, content: VolumeSnapshotContent, context: Context): Promise<void> {
    const { client, events } = this.#tools
    const { error, ...status } = snapshotStatus(content, rfc3339)
    const wanted = { ...status, ...(error === null ? {} : { error }) }
    if (equalValues(snapshot.status, wanted)) return
    const { name } = snapshot.metadata
    await client
      .of(volumeSnapshot)
      .patch(name, namespaceOf(snapshot), { status: { ...status, error } }, 'merge', context, 'status')
    const place = `${namespaceOf(snapshot)}/${name}`
    if (status.creationTime !== undefined && snapshot.status?.creationTime === undefined) {
      const message = `Snapshot ${place} was successfully created by the CSI driver.`
      events.record(snapshot, { type: 'Normal', reason: 'SnapshotCreated', message }, context)
    }
    if (status.readyToUse && snapshot.status?.readyToUse !== true)
      events.record(
        snapshot,
        { type: 'Normal', reason: 'SnapshotReady', message: `Snapshot ${place} is ready to use.` },
        context,
      )
  }

  /** The claim may be deleted once the snapshot has been made. */
  async #releaseClaim(snapshot: VolumeSnapshot, context: Context): Promise<void> {
    const { client, informers } = this.#tools
    const name = snapshot.spec.source.persistentVolumeClaimName
    if (name === undefined) return
    const claim = informers.of(persistentVolumeClaim).get(objectKey(namespaceOf(snapshot), name))
    const isNeeded = [...informers.of(volumeSnapshot).all()].some(
      (other) =>
        other.metadata.uid !== snapshot.metadata.uid &&
        namespaceOf(other) === namespaceOf(snapshot) &&
        other.spec.source.persistentVolumeClaimName === name &&
        other.status?.creationTime === undefined,
    )
    if (claim !== undefined && !isNeeded)
      await removeFinalizer(client, persistentVolumeClaim, claim, claimFinalizer, context)
  }

  async #delete(snapshot: VolumeSnapshot, context: Context): Promise<undefined> {
    const { client, informers } = this.#tools
    if (!hasFinalizer(snapshot, sourceFinalizer) && !hasFinalizer(snapshot, boundFinalizer)) return
    const claims = [...informers.of(persistentVolumeClaim).all()]
    if (claims.some((claim) => isRestoring(claim, snapshot))) return
    const contentName = snapshot.status?.boundVolumeSnapshotContentName ?? contentNameOf(snapshot)
    const content = await client.of(volumeSnapshotContent).find(contentName, context)
    if (content !== undefined && content.spec.volumeSnapshotRef.uid === snapshot.metadata.uid) {
      const annotations = { [deletingAnnotation]: 'yes' }
      if (content.metadata.annotations?.[deletingAnnotation] === undefined)
        await client.of(volumeSnapshotContent).patch(contentName, { metadata: { annotations } }, 'merge', context)
      if (content.spec.deletionPolicy === 'Delete') {
        if (!isBeingDeleted(content)) await client.of(volumeSnapshotContent).delete(contentName, {}, context)
        // The deletion of the content brings the snapshot here again.
        return
      }
    }
    await this.#releaseClaim(snapshot, context)
    const left = (snapshot.metadata.finalizers ?? []).filter(
      (each) => each !== sourceFinalizer && each !== boundFinalizer,
    )
    const { name, resourceVersion } = snapshot.metadata
    await client
      .of(volumeSnapshot)
      .patch(name, namespaceOf(snapshot), { metadata: { resourceVersion, finalizers: left } }, 'merge', context)
  }

  async #reportError(snapshot: VolumeSnapshot, message: string, context: Context): Promise<void> {
    const { client, clock, events } = this.#tools
    const note = { type: 'Warning', reason: 'SnapshotContentCreationFailed', message } as const
    events.record(snapshot, note, context)
    if (snapshot.status?.error?.message === message) return
    const status = { readyToUse: false, error: { time: rfc3339(clock.nowMs()), message } }
    await client
      .of(volumeSnapshot)
      .patch(snapshot.metadata.name, namespaceOf(snapshot), { status }, 'merge', context, 'status')
  }
}

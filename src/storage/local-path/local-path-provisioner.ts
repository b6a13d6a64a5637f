// LocalPathProvisioner: an external provisioner, as those of storage drivers. It creates directories on its nodes for
// claims that were scheduled there, and removes them with their volumes. Its state is in the API objects and the disk.
import type { TaskGroup } from '../../base/async/task-group.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { Context } from '../../base/observability/context.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Random } from '../../base/random/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import { annotationOf } from '../../api/core/v1/volume/claim-binding.ts'
import { persistentVolumeClaim, type PersistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume, type PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import { ignoring } from '../../api/errors/status-error.ts'
import { namespaceOf, objectKey, type ObjectKey } from '../../api/meta/object.ts'
import { storageClass, type StorageClass } from '../../api/storage/v1/storage-class.ts'
import type { Client } from '../../client/client.ts'
import { EventRecorder, type EventNote } from '../../client/events/event-recorder.ts'
import type { Informer } from '../../client/informer/informer.ts'
import { Informers } from '../../client/informer/informers.ts'
import { Reconciler, type ReconcilerOptions } from '../../client/reconcile/reconciler.ts'
import { quantityUnits } from '../../schema/scalar/quantity.ts'
import { mustDelete, mustReleaseFinalizer, provisionerFinalizer, volumeNameOf } from '../provisioning/provisioning.ts'
import { decideClaim, localPathNodeOf, newVolume, projectAnnotation, type ClaimDecision } from './claim-decision.ts'
import { localPathProvisionerName } from './local-path-class.ts'
import type { NodeVolumes } from './node-volumes.ts'
import { ProjectIds } from './project-ids.ts'

export interface LocalPathProvisionerDeps {
  readonly client: Client
  /** Writes events and the status of claims, if the client may not: the credentials of its only node. */
  readonly kubeletClient?: Client
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** The nodes that it serves, by name. */
  readonly nodes: ReadonlyMap<string, NodeVolumes>
  /** The source of its events. */
  readonly host?: string
}

const claimPrefix = 'claim '
const volumePrefix = 'volume '

const reconcilerOptions: ReconcilerOptions = {
  name: 'local-path',
  workers: 8,
  backoff: { initialMs: 1_000, maxMs: 300_000 },
}

/** Runs in `tasks` until they are stopped. */
export function startLocalPathProvisioner(deps: LocalPathProvisionerDeps, tasks: TaskGroup): void {
  const informers = new Informers(deps.client, deps, tasks)
  const { client, kubeletClient = client, host = '' } = deps
  const events = new EventRecorder(kubeletClient, localPathProvisionerName, { ...deps, host })
  tasks.start('local-path events', (signal) => events.run(signal))
  new LocalPathProvisioner(deps, informers, events).start(informers, tasks)
}

class LocalPathProvisioner {
  readonly #deps: LocalPathProvisionerDeps
  readonly #events: EventRecorder
  readonly #claims: Informer<PersistentVolumeClaim>
  readonly #volumes: Informer<PersistentVolume>
  readonly #classes: Informer<StorageClass>
  readonly #reconciler: Reconciler
  readonly #projectIds = new ProjectIds()

  constructor(deps: LocalPathProvisionerDeps, informers: Informers, events: EventRecorder) {
    this.#deps = deps
    this.#events = events
    this.#claims = informers.of(persistentVolumeClaim)
    this.#volumes = informers.of(persistentVolume)
    this.#volumes.addIndex('node', (volume) => [localPathNodeOf(volume) ?? ''])
    this.#classes = informers.of(storageClass)
    this.#reconciler = new Reconciler(reconcilerOptions, { clock: deps.clock, log: deps.log })
    this.#claims.onChange(({ key, cause }) => this.#reconciler.add(`${claimPrefix}${key}`, cause))
    this.#volumes.onChange(({ key, cause }) => this.#reconciler.add(`${volumePrefix}${key}`, cause))
  }

  start(informers: Informers, tasks: TaskGroup): void {
    this.#reconciler.start(
      async (key, ctx) => {
        if (key.startsWith(claimPrefix)) await this.#reconcileClaim(key.slice(claimPrefix.length), ctx)
        else await this.#reconcileVolume(key.slice(volumePrefix.length), ctx)
        return undefined
      },
      async (signal) => {
        await unlessAborted(informers.synced(), signal)
        await this.#removeUnused()
      },
      tasks,
    )
  }

  async #removeUnused(): Promise<void> {
    const used = new Set([...this.#claims.all()].map(volumeNameOf))
    const isUsed = (name: string) => used.has(name) || this.#volume(name) !== undefined
    for (const volumes of this.#deps.nodes.values()) await volumes.removeUnused(isUsed)
  }

  #volume(name: string): PersistentVolume | undefined {
    return this.#volumes.get(objectKey('', name))
  }

  readonly #servesNode = (name: string): boolean => this.#deps.nodes.has(name)

  #nodeNamed(name: string): NodeVolumes {
    const volumes = this.#deps.nodes.get(name)
    if (volumes === undefined) throw new Error(`node ${name} is not served here`)
    return volumes
  }

  async #reconcileClaim(key: ObjectKey, ctx: Context): Promise<void> {
    const claim = this.#claims.get(key)
    if (claim === undefined) return
    const decision = decideClaim(claim, {
      classNamed: (name) => this.#classes.get(objectKey('', name)),
      volumeNamed: (name) => this.#volume(name),
      servesNode: this.#servesNode,
    })
    switch (decision.kind) {
      case 'nothing':
        return
      case 'reject':
        return this.#record(claim, 'Warning', 'ProvisioningFailed', failureText(decision.className, decision.why), ctx)
      case 'provision':
        return this.#provision(claim, decision, ctx)
      case 'expand':
        return this.#expand(claim, decision, ctx)
      default:
        return decision satisfies never
    }
  }

  async #provision(
    claim: PersistentVolumeClaim,
    { nodeName, storageClass: wanted }: Extract<ClaimDecision, { kind: 'provision' }>,
    ctx: Context,
  ): Promise<void> {
    const node = this.#nodeNamed(nodeName)
    const name = volumeNameOf(claim)
    const shown = JSON.stringify(`${namespaceOf(claim)}/${claim.metadata.name}`)
    this.#record(claim, 'Normal', 'Provisioning', `External provisioner is provisioning volume for claim ${shown}`, ctx)
    try {
      await node.make(name)
      const projectId = (await node.areLimited(ctx.signal)) ? this.#projectIdOf(name, nodeName) : undefined
      const volume = newVolume(claim, wanted, { nodeName, path: node.pathOf(name), projectId })
      if (projectId !== undefined)
        await node.limit(name, projectId, quantityUnits(volume.spec?.capacity?.['storage']), ctx.signal)
      // An earlier attempt may have created it.
      await this.#deps.client.of(persistentVolume).create(volume, '', ctx).catch(ignoring('AlreadyExists'))
    } catch (error) {
      if (!ctx.signal.aborted)
        this.#record(claim, 'Warning', 'ProvisioningFailed', failureText(wanted.metadata.name, errorText(error)), ctx)
      throw error
    }
    this.#record(claim, 'Normal', 'ProvisioningSucceeded', `Successfully provisioned volume ${name}`, ctx)
  }

  #projectIdOf(name: string, nodeName: string): number {
    const known = this.#volumes
      .byIndex('node', nodeName)
      .map((volume) => Number(annotationOf(volume, projectAnnotation) ?? '0'))
    return this.#projectIds.take(nodeName, name, known)
  }

  async #expand(
    claim: PersistentVolumeClaim,
    { nodeName, volume, size }: Extract<ClaimDecision, { kind: 'expand' }>,
    ctx: Context,
  ): Promise<void> {
    if (!this.#servesNode(nodeName)) return
    const { name } = volume.metadata
    const projectId = Number(annotationOf(volume, projectAnnotation) ?? '0')
    if (projectId === 0) {
      const why = 'the file system of the node does not limit the size of directories'
      const message = `resize volume ${JSON.stringify(name)} by resizer ${JSON.stringify(localPathProvisionerName)} failed: ${why}`
      return this.#record(claim, 'Warning', 'VolumeResizeFailed', message, ctx)
    }
    this.#record(claim, 'Normal', 'Resizing', `External resizer is resizing volume ${name}`, ctx)
    await this.#nodeNamed(nodeName).limit(name, projectId, quantityUnits(size), ctx.signal)
    const { client, kubeletClient = client } = this.#deps
    if (quantityUnits(volume.spec.capacity?.['storage']) < quantityUnits(size))
      await client.of(persistentVolume).patch(name, '', { spec: { capacity: { storage: size } } }, 'merge', ctx)
    const capacity = { ...claim.status.capacity, storage: size }
    await kubeletClient.of(persistentVolumeClaim).updateStatus({ ...claim, status: { ...claim.status, capacity } }, ctx)
    this.#record(claim, 'Normal', 'VolumeResizeSuccessful', 'Resize volume succeeded', ctx)
  }

  async #reconcileVolume(key: ObjectKey, ctx: Context): Promise<void> {
    const volume = this.#volumes.get(key)
    const nodeName = (volume && localPathNodeOf(volume)) ?? ''
    const node = this.#deps.nodes.get(nodeName)
    if (volume?.spec.local === undefined || node === undefined) return
    const { name } = volume.metadata
    if (mustReleaseFinalizer(volume)) return this.#removeFinalizer(volume, ctx)
    if (mustDelete(volume, localPathProvisionerName)) return this.#delete(volume, nodeName, volume.spec.local.path, ctx)
    if (node.pathOf(name) === volume.spec.local.path) await node.restore(name)
  }

  async #delete(volume: PersistentVolume, nodeName: string, path: string, ctx: Context): Promise<void> {
    const { name } = volume.metadata
    const node = this.#nodeNamed(nodeName)
    try {
      // The path is part of an object that users may change; no other directory is ever removed.
      if (path !== node.pathOf(name)) throw new Error(`${path} is not the directory of the volume`)
      await node.remove(name)
    } catch (error) {
      this.#record(volume, 'Warning', 'VolumeFailedDelete', errorText(error), ctx)
      throw error
    }
    this.#projectIds.release(nodeName, name)
    await this.#deps.client.of(persistentVolume).delete(name, '', {}, ctx).catch(ignoring('NotFound'))
    await this.#removeFinalizer(volume, ctx)
  }

  async #removeFinalizer({ metadata }: PersistentVolume, ctx: Context): Promise<void> {
    if (!metadata.finalizers?.includes(provisionerFinalizer)) return
    const volumes = this.#deps.client.of(persistentVolume)
    // A strategic merge removes this finalizer only, whatever others were changed meanwhile.
    const patch = { metadata: { '$deleteFromPrimitiveList/finalizers': [provisionerFinalizer] } }
    await volumes.patch(metadata.name, '', patch, 'strategic', ctx).catch(ignoring('NotFound'))
  }

  #record(
    object: PersistentVolume | PersistentVolumeClaim,
    type: EventNote['type'],
    reason: string,
    message: string,
    ctx: Context,
  ): void {
    this.#events.record(object, { type, reason, message }, ctx)
  }
}

const failureText = (className: string, why: string): string =>
  `failed to provision volume with StorageClass ${JSON.stringify(className)}: ${why}`

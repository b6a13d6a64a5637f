// Stage: what a scenario does and sees. It plays the kubelets and the storage driver, and records VolumeAttachments, the
// volumes that nodes report, and the events of the attach/detach controller.
import { createHash } from 'node:crypto'
import type { Client } from '../../src/client/client.ts'
import { event } from '../../src/api/core/v1/event.ts'
import { namespace } from '../../src/api/core/v1/namespace.ts'
import { node } from '../../src/api/core/v1/node/node.ts'
import { pod } from '../../src/api/core/v1/pod/pod.ts'
import { persistentVolumeClaim } from '../../src/api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume } from '../../src/api/core/v1/volume/persistent-volume.ts'
import { csiDriver } from '../../src/api/storage/v1/csi-driver.ts'
import { volumeAttachment, type VolumeAttachment } from '../../src/api/storage/v1/volume-attachment.ts'
import { hasReason } from '../../src/api/errors/status-error.ts'

/** A cluster with its controllers: a recorded one in real time, or ours in virtual time. */
export interface World {
  readonly client: Client
  sleep(ms: number): Promise<void>
  /** Waits until the controllers have done what can be done without further time. */
  settle(observe: () => Promise<unknown>): Promise<void>
  /** Stops the controllers, does something, and starts them again. */
  restart(between: () => Promise<void>): Promise<void>
  now(): string
}

/** What is visible at one point of a scenario. */
export interface Sight {
  readonly attachments: readonly string[]
  readonly nodes: Readonly<Record<string, readonly string[]>>
  readonly events: readonly string[]
}

interface VolumeOptions {
  readonly accessModes?: readonly string[]
  /** The second namespace of the scenario has the claim. */
  readonly isElsewhere?: boolean
  readonly isBound?: boolean
  /** Another PersistentVolume with the same handle is the same volume. */
  readonly handle?: string
  /** Instead of a CSI volume. */
  readonly source?: object
  readonly claimName?: string
  readonly volumeMode?: string
  readonly owner?: string
}

interface PodOptions {
  readonly isElsewhere?: boolean
  readonly volumes?: readonly object[]
}

const managedAnnotation = 'volumes.kubernetes.io/controller-managed-attach-detach'
const finalizer = 'external-attacher/test'
const heartbeatMs = 10_000
const retryMs = 200
/** A controller lists the pods of a new node after three minutes at the latest. */
const retriesMax = 1_000

export class Stage {
  readonly sights: Sight[] = []
  readonly #world: World
  readonly #id: string
  readonly #ready = new Set<string>()
  /** The handle of each volume, where it is not the volume's name. */
  readonly #handles = new Map<string, string>()

  constructor(world: World, id: string) {
    this.#world = world
    this.#id = id
  }

  get driverName(): string {
    return `${this.#id}.example.com`
  }

  async open(): Promise<void> {
    for (const name of [this.#home(false), this.#home(true)])
      await this.#world.client.of(namespace).create({ metadata: { name } })
  }

  async driver(spec: object = {}): Promise<void> {
    await this.#world.client.of(csiDriver).create({ metadata: { name: this.driverName }, spec })
  }

  async removeDriver(): Promise<void> {
    await this.#world.client.of(csiDriver).delete(this.driverName)
  }

  async node(name: string, annotations: Record<string, string> = { [managedAnnotation]: 'true' }): Promise<void> {
    await this.#world.client.of(node).create({ metadata: { name: this.#named(name), annotations } })
    await this.ready(name, 'True')
  }

  async manage(name: string): Promise<void> {
    await this.#mergeNode(name, { metadata: { annotations: { [managedAnnotation]: 'true' } } })
  }

  async ready(name: string, status: 'True' | 'False'): Promise<void> {
    if (status === 'True') this.#ready.add(name)
    else this.#ready.delete(name)
    await this.#heartbeat(name, status)
  }

  async #heartbeat(name: string, status: 'True' | 'False'): Promise<void> {
    const times = { lastHeartbeatTime: this.#world.now(), lastTransitionTime: this.#world.now() }
    const conditions = [{ type: 'Ready', status, reason: 'Test', message: 'test', ...times }]
    const patch = { status: { conditions } }
    await this.#world.client.of(node).patch(this.#named(name), '', patch, 'strategic', undefined, 'status')
  }

  async inUse(name: string, ...volumes: string[]): Promise<void> {
    const volumesInUse = volumes.map((volume) => this.#uniqueName(volume))
    await this.#mergeNode(name, { status: { volumesInUse } }, 'status')
  }

  async setAttached(name: string, ...volumes: string[]): Promise<void> {
    const volumesAttached = volumes.map((volume) => ({ name: this.#uniqueName(volume), devicePath: '' }))
    await this.#mergeNode(name, { status: { volumesAttached } }, 'status')
  }

  async taintOutOfService(name: string): Promise<void> {
    const taints = [{ key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' }]
    await this.#mergeNode(name, { spec: { taints } })
  }

  async removeNode(name: string): Promise<void> {
    this.#ready.delete(name)
    await this.#world.client.of(node).delete(this.#named(name))
  }

  async volume(name: string, options: VolumeOptions = {}): Promise<void> {
    const { accessModes = ['ReadWriteOnce'], isElsewhere = false, isBound = true, claimName = name } = options
    const { volumeMode = 'Filesystem', handle = name, owner } = options
    const source = options.source ?? { csi: { driver: this.driverName, volumeHandle: this.#handle(handle) } }
    const home = this.#home(isElsewhere)
    this.#handles.set(name, handle)
    const { client } = this.#world
    const ownerReferences = owner === undefined ? [] : [await this.#podOwner(owner, home)]
    const volumeName = isBound ? { volumeName: this.#named(name) } : {}
    const resources = { requests: { storage: '1Gi' } }
    const claimSpec = { accessModes: [...accessModes], volumeMode, storageClassName: '', resources, ...volumeName }
    const claims = client.of(persistentVolumeClaim)
    const claim = await claims
      .create({ metadata: { name: claimName, ownerReferences }, spec: claimSpec } as never, home)
      .catch((error: unknown) => {
        // The claim of an ephemeral volume may have been created by its controller.
        if (owner === undefined || !hasReason(error, 'AlreadyExists')) throw error
        return claims.patch(claimName, home, { spec: volumeName }, 'merge')
      })
    const claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace: home, name: claimName }
    await client.of(persistentVolume).create({
      metadata: { name: this.#named(name) },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: [...accessModes],
        volumeMode,
        persistentVolumeReclaimPolicy: 'Retain',
        claimRef: isBound ? { ...claimRef, uid: claim.metadata.uid } : { ...claimRef, name: 'other', uid: 'none' },
        ...source,
      },
    } as never)
    if (isBound) await this.#setBound(name, claimName, home, accessModes)
  }

  /** Binds the claim of a volume that was created unbound. */
  async bind(name: string): Promise<void> {
    const home = this.#home(false)
    const { client } = this.#world
    const { metadata } = await client.of(persistentVolumeClaim).get(name, home)
    await client.of(persistentVolume).patch(this.#named(name), '', { spec: { claimRef: null } }, 'merge')
    const claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace: home, name, uid: metadata.uid }
    await client.of(persistentVolume).patch(this.#named(name), '', { spec: { claimRef } }, 'merge')
    await client.of(persistentVolumeClaim).patch(name, home, { spec: { volumeName: this.#named(name) } }, 'merge')
    await this.#setBound(name, name, home, ['ReadWriteOnce'])
  }

  async #setBound(name: string, claimName: string, home: string, accessModes: readonly string[]): Promise<void> {
    const { client } = this.#world
    await client
      .of(persistentVolume)
      .patch(this.#named(name), '', { status: { phase: 'Bound' } }, 'merge', undefined, 'status')
    const status = { phase: 'Bound', accessModes, capacity: { storage: '1Gi' } }
    await client.of(persistentVolumeClaim).patch(claimName, home, { status }, 'merge', undefined, 'status')
  }

  async #podOwner(name: string, home: string): Promise<object> {
    const { metadata } = await this.#world.client.of(pod).get(name, home)
    return { apiVersion: 'v1', kind: 'Pod', name, uid: metadata.uid, controller: true, blockOwnerDeletion: true }
  }

  /** Deletes the claim although pods use it. */
  async removeClaim(name: string): Promise<void> {
    const claims = this.#world.client.of(persistentVolumeClaim)
    await claims.delete(name, this.#home(false))
    await claims.patch(name, this.#home(false), { metadata: { finalizers: null } }, 'merge').catch(() => undefined)
  }

  async pod(
    name: string,
    nodeName: string | undefined,
    claims: readonly string[],
    options: PodOptions = {},
  ): Promise<void> {
    const { isElsewhere = false, volumes = [] } = options
    const spec = {
      ...(nodeName === undefined ? { schedulerName: 'none' } : { nodeName: this.#named(nodeName) }),
      automountServiceAccountToken: false,
      containers: [{ name: 'c', image: 'i' }],
      volumes: [
        ...claims.map((claimName, index) => ({ name: `v${index}`, persistentVolumeClaim: { claimName } })),
        ...volumes,
      ],
    }
    // The namespace has no ServiceAccount until a controller has created it.
    for (let attempt = 0; ; attempt++)
      try {
        await this.#world.client.of(pod).create({ metadata: { name }, spec } as never, this.#home(isElsewhere))
        return
      } catch (error) {
        if (attempt >= retriesMax || !String(error).includes('serviceaccount')) throw error
        await this.#world.sleep(retryMs)
      }
  }

  async schedule(name: string, nodeName: string): Promise<void> {
    const target = { apiVersion: 'v1', kind: 'Node', name: this.#named(nodeName) }
    await this.#world.client.of(pod).createSubresource(name, this.#home(false), 'binding', {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name },
      target,
    })
  }

  async podStatus(name: string, status: object): Promise<void> {
    await this.#world.client.of(pod).patch(name, this.#home(false), { status }, 'merge', undefined, 'status')
  }

  /** A pod that has containers ends when its kubelet says so; no kubelet does here. */
  async terminate(name: string): Promise<void> {
    await this.#world.client.of(pod).delete(name, this.#home(false), { gracePeriodSeconds: 3600 })
  }

  async remove(name: string, isElsewhere = false): Promise<void> {
    await this.#world.client.of(pod).delete(name, this.#home(isElsewhere), { gracePeriodSeconds: 0 })
  }

  /** The driver has attached the volume. With a finalizer, a deletion waits for `detached`. */
  async attached(volume: string, nodeName: string, options: { hasFinalizer?: boolean } = {}): Promise<void> {
    const name = this.#attachmentName(volume, nodeName)
    const attachments = this.#world.client.of(volumeAttachment)
    await this.#appearance(name)
    if (options.hasFinalizer) await attachments.patch(name, '', { metadata: { finalizers: [finalizer] } }, 'merge')
    await attachments.patch(name, '', { status: { attached: true, attachError: null } }, 'merge', undefined, 'status')
  }

  async attachmentStatus(volume: string, nodeName: string, status: object): Promise<void> {
    const name = this.#attachmentName(volume, nodeName)
    await this.#appearance(name)
    await this.#world.client.of(volumeAttachment).patch(name, '', { status }, 'merge', undefined, 'status')
  }

  attachError(volume: string, nodeName: string, message: string): Promise<void> {
    return this.attachmentStatus(volume, nodeName, {
      attached: false,
      attachError: { message, time: this.#world.now() },
    })
  }

  detachError(volume: string, nodeName: string, message: string): Promise<void> {
    return this.attachmentStatus(volume, nodeName, {
      attached: true,
      detachError: { message, time: this.#world.now() },
    })
  }

  async #appearance(name: string): Promise<void> {
    for (let attempt = 0; attempt < retriesMax; attempt++) {
      if ((await this.#world.client.of(volumeAttachment).find(name, '')) !== undefined) return
      await this.#world.sleep(retryMs)
    }
    throw new Error(`${this.#id}: no attachment ${name}`)
  }

  async detached(volume: string, nodeName: string): Promise<void> {
    const name = this.#attachmentName(volume, nodeName)
    await this.#world.client.of(volumeAttachment).patch(name, '', { metadata: { finalizers: null } }, 'merge')
  }

  async makeAttachment(volume: string, nodeName: string, options: { isOwnName?: boolean } = {}): Promise<void> {
    const name = options.isOwnName ? this.#attachmentName(volume, nodeName) : this.#named(`${volume}-by-hand`)
    const source = { persistentVolumeName: this.#named(volume) }
    const spec = { attacher: this.driverName, nodeName: this.#named(nodeName), source }
    await this.#world.client.of(volumeAttachment).create({ metadata: { name }, spec })
  }

  async removeAttachment(volume: string, nodeName: string): Promise<void> {
    await this.#world.client.of(volumeAttachment).delete(this.#attachmentName(volume, nodeName))
  }

  /** Nodes that are ready stay so. */
  async wait(seconds: number): Promise<void> {
    for (let leftMs = seconds * 1000; leftMs > 0; leftMs -= heartbeatMs) {
      for (const name of this.#ready) await this.#heartbeat(name, 'True')
      await this.#world.sleep(Math.min(leftMs, heartbeatMs))
    }
  }

  restart(between: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    return this.#world.restart(between)
  }

  async see(): Promise<void> {
    await this.#world.settle(() => this.#sight())
    this.sights.push(await this.#sight())
  }

  async #sight(): Promise<Sight> {
    const { client } = this.#world
    const prefix = this.#named('')
    const [attachments, nodes] = await Promise.all([client.of(volumeAttachment).list(), client.of(node).list()])
    const events = (
      await Promise.all([false, true].map((is) => client.of(event).list({ namespace: this.#home(is) })))
    ).flatMap(({ items }) => items)
    const own = attachments.items.filter(({ spec }) => spec.nodeName.startsWith(prefix))
    return {
      attachments: own.map((each) => this.#attachmentText(each)).toSorted(),
      nodes: Object.fromEntries(
        nodes.items
          .filter(({ metadata }) => metadata.name.startsWith(prefix))
          .map(({ metadata, status }) => [
            this.#plain(metadata.name),
            (status.volumesAttached ?? [])
              .map(({ name, devicePath }) => this.#plain(`${name}${devicePath}`))
              .toSorted(),
          ]),
      ),
      events: [
        ...new Set(
          events
            .filter(({ source }) => source?.component === 'attachdetach-controller')
            .map(({ type, reason, message, involvedObject }) =>
              this.#plain(`${involvedObject.kind}/${involvedObject.name} ${type} ${reason} ${message}`),
            ),
        ),
      ].toSorted(),
    }
  }

  #attachmentText({ metadata, spec, status }: VolumeAttachment): string {
    const volume = spec.source.persistentVolumeName ?? ''
    const expected = this.#attachmentName(this.#plain(volume), this.#plain(spec.nodeName))
    const name = metadata.name === expected ? '' : `${metadata.name} `
    const words = [
      spec.attacher === this.driverName ? '' : ` by ${spec.attacher}`,
      status?.attached ? ' attached' : '',
      metadata.deletionTimestamp === undefined ? '' : ' deleting',
    ]
    return this.#plain(`${name}${volume} on ${spec.nodeName}${words.join('')}`)
  }

  #named = (name: string): string => `${this.#id}-${name}`
  #home = (isElsewhere: boolean): string => (isElsewhere ? `${this.#id}-elsewhere` : `${this.#id}-home`)
  #handle = (name: string): string => `handle-${this.#id}-${name}`
  #uniqueName = (volume: string): string => `kubernetes.io/csi/${this.driverName}^${this.#handle(volume)}`
  #plain = (text: string): string => text.replaceAll(`${this.#id}-`, '').replaceAll(`${this.#id}.`, '')

  #attachmentName(volume: string, nodeName: string): string {
    const handle = this.#handle(this.#handles.get(volume) ?? volume)
    const digest = createHash('sha256').update(`${handle}${this.driverName}${this.#named(nodeName)}`)
    return `csi-${digest.digest('hex')}`
  }

  async #mergeNode(name: string, patch: object, subresource = ''): Promise<void> {
    await this.#world.client.of(node).patch(this.#named(name), '', patch, 'merge', undefined, subresource)
  }
}

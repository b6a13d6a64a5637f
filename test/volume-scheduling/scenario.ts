// Scenarios of the scheduler's storage plugins on two nodes, n1 in zone a and n2 in zone b. Every scenario has a namespace, and
// a prefix for the names of its volumes and classes.
import type { Client } from '../../src/client/client.ts'
import { namespace } from '../../src/api/core/v1/namespace.ts'
import { node } from '../../src/api/core/v1/node/node.ts'
import { pod } from '../../src/api/core/v1/pod/pod.ts'
import { serviceAccount } from '../../src/api/core/v1/service-account.ts'
import { persistentVolumeClaim } from '../../src/api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume } from '../../src/api/core/v1/volume/persistent-volume.ts'
import { priorityClass } from '../../src/api/scheduling/v1/priority-class.ts'
import { csiDriver } from '../../src/api/storage/v1/csi-driver.ts'
import { csiNode } from '../../src/api/storage/v1/csi-node.ts'
import { csiStorageCapacity } from '../../src/api/storage/v1/csi-storage-capacity.ts'
import { storageClass } from '../../src/api/storage/v1/storage-class.ts'
import { volumeAttachment } from '../../src/api/storage/v1/volume-attachment.ts'

/** What is visible of the pod `p`, its claims and volumes after the scheduler had time for it. */
export interface Outcome {
  readonly node: string
  readonly message: string
  readonly claims: Readonly<Record<string, string>>
  readonly volumes: Readonly<Record<string, string>>
  /** Pods that are being deleted. */
  readonly deleted: readonly string[]
}

export interface Scenario {
  readonly name: string
  readonly run: (stage: Stage) => Promise<void>
}

const zones: Readonly<Record<string, string>> = { n1: 'a', n2: 'b' }
const selectedNode = 'volume.kubernetes.io/selected-node'
const limitedDrivers = ['one.example.com', 'inline.example.com', 'attached.example.com', 'same.example.com']

/** The nodes and what all scenarios share. */
export async function openCluster(client: Client): Promise<void> {
  for (const [name, zone] of Object.entries(zones)) {
    const labels = { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': zone }
    await client.of(node).create({ metadata: { name, labels } })
    const resources = { cpu: '4', memory: '4Gi', pods: '110' }
    const conditions = [{ type: 'Ready', status: 'True', reason: 'r', message: 'm' }]
    const status = { capacity: resources, allocatable: resources, conditions }
    await client.of(node).patch(name, '', { status }, 'merge', undefined, 'status')
    await client.of(node).patch(name, '', { spec: { taints: null } }, 'merge')
    const drivers = [
      ...limitedDrivers.map((driver) => ({ name: driver, nodeID: name, allocatable: { count: 1 } })),
      { name: 'zero.example.com', nodeID: name, allocatable: { count: 0 } },
    ]
    await client.of(csiNode).create({ metadata: { name }, spec: { drivers } })
  }
  await client.of(csiDriver).create({ metadata: { name: 'sized.example.com' }, spec: { storageCapacity: true } })
  await client.of(priorityClass).create({ metadata: { name: 'high' }, value: 1000 })
}

export class Stage {
  readonly #client: Client
  readonly #id: string

  constructor(client: Client, id: string) {
    this.#client = client
    this.#id = id
  }

  async open(): Promise<void> {
    for (const name of [this.#id, `${this.#id}-other`]) {
      await this.#client.of(namespace).create({ metadata: { name } })
      await this.#client.of(serviceAccount).create({ metadata: { name: 'default' } }, name)
    }
  }

  async class(name: string, fields: object = {}): Promise<void> {
    const volumeBindingMode = 'WaitForFirstConsumer'
    const body = { metadata: { name: this.#named(name) }, provisioner: 'd.example.com', volumeBindingMode, ...fields }
    await this.#client.of(storageClass).create(body as never)
  }

  async claim(name: string, className: string | undefined, fields: object = {}, metadata: object = {}): Promise<void> {
    const resources = { requests: { storage: '1Gi' } }
    const storageClassName = className === undefined || className === '' ? className : this.#named(className)
    const spec = { accessModes: ['ReadWriteOnce'], resources, storageClassName, ...fields }
    await this.#client.of(persistentVolumeClaim).create({ metadata: { name, ...metadata }, spec } as never, this.#id)
  }

  async claimStatus(name: string, status: object): Promise<void> {
    await this.#client.of(persistentVolumeClaim).patch(name, this.#id, { status }, 'merge', undefined, 'status')
  }

  async removeClaim(name: string): Promise<void> {
    await this.#client.of(persistentVolumeClaim).delete(name, this.#id)
  }

  async volume(name: string, fields: object = {}, labels: Record<string, string> = {}): Promise<void> {
    const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], csi: this.#csi(name), ...fields }
    await this.#client.of(persistentVolume).create({ metadata: { name: this.#named(name), labels }, spec })
    await this.#client
      .of(persistentVolume)
      .patch(this.#named(name), '', { status: { phase: 'Available' } }, 'merge', undefined, 'status')
  }

  async volumeOf(className: string, name: string, fields: object = {}): Promise<void> {
    await this.volume(name, { storageClassName: this.#named(className), ...fields })
  }

  #csi = (name: string) => ({ driver: 'd.example.com', volumeHandle: this.#named(name) })

  /** A claim and its volume, bound to each other. */
  async bound(name: string, fields: object = {}, labels: Record<string, string> = {}, driver = 'd.example.com') {
    const annotations = { 'pv.kubernetes.io/bind-completed': 'yes' }
    const { accessModes = ['ReadWriteOnce'] } = fields as { accessModes?: string[] }
    await this.claim(name, '', { volumeName: this.#named(name), accessModes }, { annotations })
    const { metadata } = await this.#client.of(persistentVolumeClaim).get(name, this.#id)
    const claimRef = { kind: 'PersistentVolumeClaim', namespace: this.#id, name, uid: metadata.uid }
    await this.volume(name, { claimRef, csi: { ...this.#csi(name), driver }, ...fields }, labels)
    await this.claimStatus(name, { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes })
  }

  async capacity(name: string, className: string, zone: string, sizes: object): Promise<void> {
    const nodeTopology = { matchLabels: { 'topology.kubernetes.io/zone': zone } }
    const body = { metadata: { name }, storageClassName: this.#named(className), nodeTopology, ...sizes }
    await this.#client.of(csiStorageCapacity).create(body, this.#id)
  }

  async attachment(volume: string, nodeName: string, attacher: string): Promise<void> {
    const spec = { attacher, nodeName, source: { persistentVolumeName: this.#named(volume) } }
    await this.#client.of(volumeAttachment).create({ metadata: { name: this.#named(`${volume}-${nodeName}`) }, spec })
  }

  async pod(
    name: string,
    claims: readonly string[],
    spec: object = {},
    volumes: readonly object[] = [],
  ): Promise<void> {
    const named = claims.map((claimName, index) => ({ name: `v${index}`, persistentVolumeClaim: { claimName } }))
    const whole = {
      automountServiceAccountToken: false,
      containers: [{ name: 'c', image: 'i' }],
      volumes: [...named, ...volumes],
      ...spec,
    }
    await this.#client.of(pod).create({ metadata: { name }, spec: whole } as never, this.#id)
  }

  async outcome(): Promise<Outcome> {
    const home = { namespace: this.#id }
    const [pods, claims, volumes] = await Promise.all([
      this.#client.of(pod).list(home),
      this.#client.of(persistentVolumeClaim).list(home),
      this.#client.of(persistentVolume).list(),
    ])
    const p = pods.items.find(({ metadata }) => metadata.name === 'p')
    const message = p?.status.conditions?.find(({ type }) => type === 'PodScheduled')?.message ?? ''
    return {
      node: p?.spec.nodeName ?? '',
      message: this.#plain(message),
      claims: Object.fromEntries(
        claims.items.map(({ metadata }) => [metadata.name, metadata.annotations?.[selectedNode] ?? '']),
      ),
      volumes: Object.fromEntries(
        volumes.items
          .filter(({ metadata }) => metadata.name.startsWith(this.#named('')))
          .map(({ metadata, spec }) => [this.#plain(metadata.name), spec.claimRef?.name ?? '']),
      ),
      deleted: pods.items.flatMap(({ metadata }) => (metadata.deletionTimestamp === undefined ? [] : [metadata.name])),
    }
  }

  #named = (name: string): string => `${this.#id}-${name}`
  #plain = (text: string): string => text.replaceAll(this.#named(''), '')
}

// For tests of the binder: builders of volumes and claims, and a model of the API server in which the binder runs, with
// informers that are late, several workers, and a limit on the writes until it is killed.
import { context } from '../../base/observability/context.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { persistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume, type PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { keyOf, type ApiObject } from '../../api/meta/object.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import { storageClass, type StorageClass } from '../../api/storage/v1/storage-class.ts'
import { causeOf, type FlowId } from '../../base/observability/flow-recorder.ts'
import { controllerFamilies } from '../metrics/controller-families.ts'
import type { ObjectIndex, ReconcileController, ReconcileTools } from '../runtime/controller.ts'
import { made } from '../runtime/plan.harness.ts'
import type { BinderState } from './binder-state.ts'
import { persistentVolumeBinder } from './persistent-volume-binder.ts'

export const aVolume = (name: string, spec: object = {}, rest: object = {}): PersistentVolume =>
  made(persistentVolume, name, {
    spec: { capacity: { storage: '5Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' }, ...spec },
    status: { phase: 'Available' },
    ...rest,
  })

export const aClaim = (name: string, spec: object = {}, rest: object = {}): PersistentVolumeClaim =>
  made(persistentVolumeClaim, name, {
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      storageClassName: '',
      ...spec,
    },
    status: { phase: 'Pending' },
    ...rest,
  })

export const aClass = (name: string, body: object = {}): StorageClass =>
  made(storageClass, name, { provisioner: 'csi.example.com', ...body })

const kinds = [persistentVolume, persistentVolumeClaim, pod, storageClass] as unknown as readonly Kind[]
const binder = persistentVolumeBinder as ReconcileController<BinderState>
const roundsMax = 10_000

class Killed extends Error {}

export class BinderWorld {
  readonly objects = new Map<string, ApiObject>()
  readonly events: string[] = []
  writes = 0
  readonly metrics = new Metrics()
  readonly #families = controllerFamilies(this.metrics)
  #writesMax = Infinity
  #revision = 1_000_000
  #state = binder.state?.() as BinderState
  #queue = new Set<string>()
  /** Changes that the binder has not seen yet. */
  #unseen: { kind: Kind; now: ApiObject | undefined; before: ApiObject | undefined }[] = []

  constructor(...objects: readonly ApiObject[]) {
    for (const object of objects) this.put(object)
  }

  /** As the setting of the controllers; a test replaces it. */
  removeDirectory: (path: string) => Promise<void> = () => Promise.resolve()

  put(object: ApiObject): ApiObject {
    const kind = kindOf(object)
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: `${++this.#revision}` } }
    this.#unseen.push({ kind, now: stored, before: this.objects.get(idOf(kind, keyOf(object))) })
    this.objects.set(idOf(kind, keyOf(object)), stored)
    return stored
  }

  remove(object: ApiObject): void {
    const kind = kindOf(object)
    this.#unseen.push({ kind, now: undefined, before: this.objects.get(idOf(kind, keyOf(object))) })
    this.objects.delete(idOf(kind, keyOf(object)))
  }

  volume(name: string): PersistentVolume | undefined {
    return this.objects.get(idOf(persistentVolume, name)) as PersistentVolume | undefined
  }

  claim(name: string): PersistentVolumeClaim | undefined {
    return this.objects.get(idOf(persistentVolumeClaim, `default/${name}`)) as PersistentVolumeClaim | undefined
  }

  /** A new binder that knows nothing, and is killed after this many writes. */
  restart(writesMax = Infinity): void {
    this.#state = binder.state?.() as BinderState
    this.#queue = new Set()
    this.#unseen = [...this.objects.values()].map((now) => ({ kind: kindOf(now), now, before: undefined }))
    this.#writesMax = this.writes + writesMax
  }

  /** Reconciles until nothing is left; returns false if the binder was killed. */
  async settle(workers = 3): Promise<boolean> {
    for (let round = 0; round < roundsMax; round++) {
      this.#deliver()
      const keys = [...this.#queue].slice(0, workers)
      if (keys.length === 0) return true
      for (const key of keys) this.#queue.delete(key)
      const results = await Promise.all(keys.map((key) => this.#reconcile(key)))
      if (results.includes('killed')) return false
    }
    throw new Error('the binder does not settle')
  }

  /** What has to be the same after every restart. */
  summary(): string[] {
    return [...this.objects.values()]
      .map(({ kind, metadata, ...rest }) => {
        const { name, annotations = {}, finalizers = [] } = metadata
        const { spec, status } = rest as Partial<PersistentVolume>
        const reference = spec?.claimRef?.uid ?? spec
        return JSON.stringify([kind, name, reference, Object.entries(annotations).toSorted(), finalizers, status])
      })
      .toSorted()
  }

  #deliver(): void {
    for (const { kind, now, before } of this.#unseen.splice(0)) {
      const key = keyOf((now ?? before) as ApiObject)
      for (const each of binder.enqueues(kind, { key, now, before, cause: causeOf(0 as FlowId) }, this.#tools))
        this.#queue.add(each)
    }
  }

  async #reconcile(key: string): Promise<'done' | 'killed'> {
    try {
      await binder.reconcile(key, this.#tools, context(new AbortController().signal))
    } catch (error) {
      if (error instanceof Killed) return 'killed'
      if (!(error instanceof StatusError)) throw error
      this.#queue.add(key)
    }
    return 'done'
  }

  readonly #write = async (object: ApiObject): Promise<ApiObject> => {
    await Promise.resolve()
    if (this.writes >= this.#writesMax) throw new Killed()
    const stored = this.objects.get(idOf(kindOf(object), keyOf(object)))
    if (stored?.metadata.resourceVersion !== object.metadata.resourceVersion)
      throw new StatusError(409, 'Conflict', 'the object has been modified')
    this.writes++
    return this.put(object)
  }

  get #tools(): ReconcileTools<BinderState> {
    const list = <T extends ApiObject>(kind: Kind<T>) =>
      [...this.objects.values()].filter((object) => object.kind === kind.kind) as unknown as T[]
    const of = (kind: Kind) => ({
      update: this.#write,
      updateStatus: this.#write,
      delete: async (name: string) => this.remove(this.objects.get(idOf(kind, name)) as ApiObject),
      find: (name: string, namespace: string) => Promise.resolve(this.objects.get(idOf(kind, `${namespace}/${name}`))),
    })
    return {
      ...({
        client: { of },
        nowMs: 0,
        settings: { removeDirectory: this.removeDirectory },
      } as unknown as ReconcileTools<BinderState>),
      metrics: this.#families,
      state: this.#state,
      cached: (kind, key) => list(kind).find((object) => keyOf(object) === key),
      all: list,
      byIndex: ({ kind, valuesOf }: ObjectIndex<never>, value: string) =>
        list(kind as unknown as Kind).filter((object) => valuesOf(object as never).includes(value)) as never,
      recordEvent: ({ metadata }, { type, reason }) => this.events.push(`${metadata.name}: ${type} ${reason}`),
    }
  }
}

const idOf = ({ kind }: Pick<Kind, 'kind'>, key: string): string => `${kind} ${key}`

function kindOf(object: ApiObject): Kind {
  const kind = kinds.find((each) => each.kind === object.kind)
  if (kind === undefined) throw new Error(`the model has no ${object.kind}`)
  return kind
}

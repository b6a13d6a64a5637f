// For tests of plans: complete objects, views of them, plans as short lines, and a model of the API server in which
// plans are applied.
import { rfc3339 } from '../../base/time/clock.ts'
import { withGeneratedSelector } from '../../api/batch/v1/job-selector.ts'
import { job, type Job } from '../../api/batch/v1/job.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { controllerOf, controllerReference, keyOf, namespaceOf, type ApiObject } from '../../api/meta/object.ts'
import { decode } from '../../schema/decoding/decode.ts'
import { withDefaults } from '../../schema/decoding/defaults.ts'
import { equalValues, type JsonObject } from '../../schema/json/json-value.ts'
import { strategicMerge } from '../../schema/patch/strategic-merge.ts'
import { ownershipPatches } from './adoption.ts'
import type { Change, Controller, Plan, PlanController, PlanView } from './controller.ts'

export const nowMs = Date.UTC(2030, 0, 1)
let serial = 0

export function made<T extends ApiObject>(kind: Kind<T>, name: string, body: object): T {
  const { metadata = {}, ...rest } = body as { metadata?: object }
  const full = {
    metadata: {
      name,
      ...(kind.namespaced ? { namespace: 'default' } : {}),
      uid: `uid-${name}`,
      resourceVersion: String(++serial),
      creationTimestamp: rfc3339(nowMs + serial * 1000),
      generation: 1,
      ...metadata,
    },
    ...rest,
  }
  const object = { ...decode(kind.message, full).value, apiVersion: kind.apiVersion, kind: kind.kind }
  return kind.applyDefaults(withDefaults(kind.message, object as unknown as T))
}

export const labels = { app: 'web' }
export const template = (image: string, spec: object = {}) => ({
  metadata: { labels },
  spec: { containers: [{ name: 'c', image }], ...spec },
})

export interface PodDetails {
  readonly ready?: boolean
  readonly readyForMs?: number
  readonly phase?: string
  readonly nodeName?: string
  readonly image?: string
  readonly status?: object
  readonly spec?: object
}

export const aPod = (
  name: string,
  {
    ready = true,
    readyForMs = 60_000,
    phase = 'Running',
    nodeName = 'n',
    image = '1',
    status = {},
    spec = {},
    ...metadata
  }: PodDetails & Record<string, unknown> = {},
): Pod =>
  made(pod, name, {
    metadata: { labels, ...metadata },
    spec: { containers: [{ name: 'c', image }], ...(nodeName === '' ? {} : { nodeName }), ...spec },
    status: {
      phase,
      conditions: [
        { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: rfc3339(nowMs - readyForMs) },
      ],
      ...status,
    },
  })

/** All given objects count as owned by the planned object, unless they have another controller. */
export const viewOf = (objects: readonly ApiObject[], atMs: number = nowMs): PlanView => {
  const ofKind = <T extends ApiObject>(kind: Kind<T>) =>
    objects.filter((object) => object.kind === kind.kind) as unknown as T[]
  return {
    nowMs: atMs,
    owned: <T extends ApiObject>(kind: Kind<T>, by?: ApiObject) =>
      ofKind(kind).filter((object) => {
        const owner = controllerOf(object)
        return by === undefined ? owner === undefined || owner.name !== 'other' : owner?.uid === by.metadata.uid
      }),
    find: (kind, key) => ofKind(kind).find((object) => keyOf(object) === key),
    all: ofKind,
    within: (kind, namespace) => ofKind(kind).filter((object) => namespaceOf(object) === namespace),
    byIndex: ({ kind, valuesOf }, value) => ofKind(kind).filter((object) => valuesOf(object).includes(value)),
  }
}

export const planOf = <T extends ApiObject>(controller: Controller, object: T, ...others: ApiObject[]): Plan =>
  (controller as PlanController).plan(object, viewOf(others))

export const shown = (changes: readonly Change[]): string[] =>
  changes.map((change) => {
    const { metadata, spec } = change.object as {
      metadata: { name?: string; generateName?: string }
      spec?: { replicas?: number }
    }
    const size = spec?.replicas === undefined ? '' : ` ×${spec.replicas}`
    return `${change.kind} ${change.of.singular} ${metadata.name ?? metadata.generateName}${size}`
  })

/** The object of the first change, which must exist. */
export function firstObject<T>({ changes: [first] }: Plan): T {
  if (first === undefined) throw new Error('the plan changes nothing')
  return first.object as unknown as T
}

/** A model of the API server that plans are applied to. Deleted objects without finalizers are removed at once. */
export class PlanWorld {
  readonly objects = new Map<string, ApiObject>()
  readonly #kept = new Map<string, unknown>()
  nowMs = nowMs
  #made = 0

  constructor(...objects: readonly ApiObject[]) {
    for (const object of objects) this.put(object)
  }

  put(object: ApiObject): void {
    this.objects.set(`${object.kind} ${keyOf(object)}`, object)
  }

  all<T extends ApiObject>(kind: Kind<T>): T[] {
    return [...this.objects.values()].filter((object) => object.kind === kind.kind) as unknown as T[]
  }

  get<T extends ApiObject>(kind: Kind<T>, key: string): T | undefined {
    return this.objects.get(`${kind.kind} ${key}`) as T | undefined
  }

  /** Applies the plans of a controller for all its objects; returns the number of changes. */
  step(controller: Controller): number {
    if (controller.type !== 'plan') return 0
    return this.all(controller.reconciles).reduce((changes, object) => changes + this.#plan(controller, object), 0)
  }

  #plan(controller: PlanController, object: ApiObject): number {
    const ownedBy = (kind: Kind, owner: ApiObject) =>
      this.all(kind)
        .filter((candidate) => controllerOf(candidate)?.uid === owner.metadata.uid)
        .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    const { claims } = controller
    if (claims !== undefined)
      for (const kind of controller.owns) {
        const orphans = this.all(kind).filter((each) => controllerOf(each) === undefined)
        const found = ownershipPatches(object, ownedBy(kind, object), orphans, (each) => claims(object, each))
        for (const { object: claimed, patch } of found) this.#patch(kind, claimed, patch)
        if (found.length > 0) return found.length
      }
    const view: PlanView = {
      ...viewOf([...this.objects.values()], this.nowMs),
      state: this.#kept.get(`${controller.name} ${object.metadata.uid}`),
      owned: <T extends ApiObject>(kind: Kind<T>, by: ApiObject = object) => ownedBy(kind, by) as unknown as T[],
    }
    const plan = controller.plan(object, view)
    this.#kept.set(`${controller.name} ${object.metadata.uid}`, plan.nextState)
    for (const change of plan.changes) this.#apply(change, object)
    const kept = this.get(controller.reconciles, keyOf(object))
    if (plan.status === undefined || kept === undefined) return plan.changes.length
    if (equalValues(plan.status, (kept as { status?: unknown }).status, true)) return plan.changes.length
    this.put({ ...kept, status: plan.status } as ApiObject)
    return plan.changes.length + 1
  }

  #apply(change: Change, owner: ApiObject): void {
    switch (change.kind) {
      case 'create': {
        const { metadata, ...body } = change.object as { metadata: { name?: string; generateName?: string } }
        const name = metadata.name ?? `${metadata.generateName}${++this.#made}`
        const owned = 'ownerReferences' in metadata ? {} : { ownerReferences: [controllerReference(owner)] }
        const creationTimestamp = rfc3339(this.nowMs)
        const uid = `uid-${change.of.singular}-${name}-${++this.#made}`
        const object = made(change.of, name, { ...body, metadata: { ...metadata, ...owned, uid, creationTimestamp } })
        return this.put(change.of.kind === job.kind ? withGeneratedSelector(object as Job) : object)
      }
      case 'update':
        return this.put(change.object)
      case 'patch':
        return this.#patch(change.of, change.object, change.patch)
      case 'delete':
        return this.#delete(change.object)
      default:
        return change satisfies never
    }
  }

  #patch(kind: Kind, object: ApiObject, patch: object): void {
    const merged = strategicMerge(kind.message, object as unknown as JsonObject, patch as JsonObject)
    const patched = merged as unknown as ApiObject
    if (patched.metadata.deletionTimestamp !== undefined && (patched.metadata.finalizers ?? []).length === 0)
      this.objects.delete(`${object.kind} ${keyOf(object)}`)
    else this.put(patched)
  }

  #delete(object: ApiObject): void {
    if ((object.metadata.finalizers ?? []).length === 0) this.objects.delete(`${object.kind} ${keyOf(object)}`)
    else this.put({ ...object, metadata: { ...object.metadata, deletionTimestamp: rfc3339(this.nowMs) } })
  }
}

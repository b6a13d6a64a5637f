// DefinitionController: accepts the names of CustomResourceDefinitions and establishes them, and deletes the objects of a
// definition before the definition itself. It is part of the API server: definitions work without a controller manager.
import { errorText, type Log } from '../../base/observability/log.ts'
import { context, type Context } from '../../base/observability/context.ts'
import { noCause } from '../../base/observability/flow-recorder.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { Clock } from '../../base/time/clock.ts'
import {
  customResourceDefinition,
  type CustomResourceDefinition,
} from '../../api/apiextensions/v1/custom-resource-definition.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { revisionOf, type ApiObject } from '../../api/meta/object.ts'
import type { KindCatalogue } from '../kinds/kind-catalogue.ts'
import { managedFieldsAfterUpdate } from '../objects/managed-fields.ts'
import { fieldTrackingOf } from '../registry/verbs/field-tracking.ts'
import { removeInternally } from '../registry/verbs/deletion.ts'
import { waitUntilFresh } from '../registry/verbs/reads.ts'
import type { ResourceDeps } from '../registry/resource/resource-deps.ts'
import { updateWithRetry } from '../registry/verbs/update-with-retry.ts'
import { withManagedFields } from '../registry/verbs/write.ts'
import { internalRequest } from '../request/request.ts'
import type { CacheObserver, ObjectLister } from '../watch-cache/object-caches.ts'
import type { WatchCache } from '../watch-cache/watch-cache.ts'
import { AcceptedNames } from './accepted-names.ts'
import {
  cleanupFinalizer,
  deletionCompleted,
  deletionInProgress,
  withCondition,
  withNames,
} from './definition-conditions.ts'

export interface DefinitionControllerDeps {
  readonly catalogue: KindCatalogue
  readonly lister: ObjectLister
  resource(kind: Kind): ResourceDeps
  readonly clock: Clock
  readonly log: Log
}

/** Definitions that are reconciled concurrently: their commits share disk writes. */
const concurrentMax = 64
const retryMs = 1_000

export class DefinitionController implements CacheObserver {
  readonly #deps: DefinitionControllerDeps
  readonly #names = new AcceptedNames()
  readonly #due = new Set<string>()
  /** Caches of definitions that are being deleted. */
  readonly #observed = new WeakSet<WatchCache>()
  #changed = Promise.withResolvers<void>()

  constructor(deps: DefinitionControllerDeps) {
    this.#deps = deps
  }

  changed(now: ApiObject | undefined, before: ApiObject | undefined): void {
    if (before !== undefined) this.#names.delete(before as CustomResourceDefinition)
    if (now !== undefined) this.#names.add(now as CustomResourceDefinition)
    if (now !== undefined) this.#enqueue(now.metadata.name)
    else if (before !== undefined) this.#enqueueGroup((before as CustomResourceDefinition).spec.group)
  }

  /** Its names are free now: others of the group may get them. */
  #enqueueGroup(group: string): void {
    for (const { metadata, spec } of this.#deps.lister.list(customResourceDefinition))
      if (spec.group === group) this.#enqueue(metadata.name)
  }

  #enqueue(name: string): void {
    this.#due.add(name)
    this.#changed.resolve()
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await unlessAborted(this.#changed.promise, signal)
      const names = [...this.#due].slice(0, concurrentMax)
      for (const name of names) this.#due.delete(name)
      if (this.#due.size === 0) this.#changed = Promise.withResolvers()
      await Promise.all(names.map((name) => this.#reconcile(name, signal)))
    }
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<void> {
    const { lister, clock, log } = this.#deps
    try {
      const definition = lister.get(customResourceDefinition, '', name)
      if (definition === undefined) return
      // What the controller does is caused by the last change of the definition.
      const ctx = context(signal, { ...noCause, revisions: [revisionOf(definition)] })
      if (definition.metadata.deletionTimestamp === undefined)
        await this.#update(name, (current) => this.#withNames(current), ctx)
      else if (definition.metadata.finalizers?.includes(cleanupFinalizer)) await this.#cleanUp(definition, ctx)
    } catch (error) {
      if (signal.aborted || hasReason(error, 'NotFound')) return
      log.warn('a CustomResourceDefinition could not be reconciled', { name, error: errorText(error) })
      clock.after(retryMs, () => this.#enqueue(name))
    }
  }

  /** Names are taken at once, so that definitions that are reconciled together do not get the same ones. */
  #withNames(definition: CustomResourceDefinition): CustomResourceDefinition {
    const named = withNames(definition, this.#names.usedByOthers(definition), this.#deps.clock.nowMs())
    this.#names.add(named)
    return named
  }

  async #cleanUp(definition: CustomResourceDefinition, ctx: Context): Promise<void> {
    const { clock, catalogue } = this.#deps
    const { name } = definition.metadata
    const kind = catalogue.customResource(name)?.storage.kind
    const left = kind === undefined ? 0 : await this.#deleteObjects(kind, name, ctx)
    await this.#update(
      name,
      (current) => {
        if (left > 0) return withCondition(current, deletionInProgress, clock.nowMs())
        const completed = withCondition(current, deletionCompleted, clock.nowMs())
        const finalizers = (current.metadata.finalizers ?? []).filter((each) => each !== cleanupFinalizer)
        return { ...completed, metadata: { ...completed.metadata, finalizers } }
      },
      ctx,
    )
  }

  /** Deletes all objects of a kind; returns how many are left because of finalizers. */
  async #deleteObjects(kind: Kind, name: string, ctx: Context): Promise<number> {
    const deps = this.#deps.resource(kind)
    if (!this.#observed.has(deps.cache)) {
      this.#observed.add(deps.cache)
      deps.cache.observe({ changed: (now) => (now === undefined ? this.#enqueue(name) : undefined) })
    }
    await waitUntilFresh(deps, undefined, ctx.signal)
    const objects = deps.cache.objects('').filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    for (let start = 0; start < objects.length; start += concurrentMax)
      await Promise.all(
        objects.slice(start, start + concurrentMax).map((object) => removeInternally(deps, object, ctx)),
      )
    return deps.cache.size
  }

  async #update(
    name: string,
    modify: (current: CustomResourceDefinition) => CustomResourceDefinition,
    ctx: Context,
  ): Promise<void> {
    const deps = this.#deps.resource(customResourceDefinition)
    const target = {
      kind: 'resource',
      verb: 'update',
      resource: deps.kind,
      subresource: 'status',
      namespace: '',
      name,
    } as const
    const request = internalRequest(target, ctx)
    const change = (current: ApiObject): ApiObject => {
      const next = modify(current as CustomResourceDefinition)
      const managers = current.metadata.managedFields ?? []
      if (next === current || managers.length === 0) return next
      return withManagedFields(
        next,
        managedFieldsAfterUpdate(managers, current, next, fieldTrackingOf(deps, request, undefined)),
      )
    }
    await updateWithRetry(deps, { namespace: '', name }, ctx, change)
  }
}

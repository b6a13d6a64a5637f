// ApiServiceController: registers an APIService for each group version that has custom kinds, and removes it with the last of
// them. As in upstream, all have the same priorities. It also registers the APIs of add-ons that this server serves itself,
// unless a user has registered another server for them.
import { context } from '../../base/observability/context.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { Clock } from '../../base/time/clock.ts'
import { apiService, type APIService } from '../../api/apiregistration/v1/api-service.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { Node } from '../../api/core/v1/node/node.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import type { BootstrapObject } from '../bootstrap/bootstrap-object.ts'
import { addOnApiServiceOf, addOnGroupVersions } from '../discovery/local-api-services.ts'
import type { CustomResource } from '../kinds/custom-resource.ts'
import type { CatalogueObserver, GroupVersion, KindCatalogue } from '../kinds/kind-catalogue.ts'
import { removeInternally } from '../registry/verbs/deletion.ts'
import type { ResourceDeps } from '../registry/resource/resource-deps.ts'
import type { CacheObserver, ObjectLister } from '../watch-cache/object-caches.ts'

export interface ApiServiceControllerDeps {
  readonly catalogue: KindCatalogue
  readonly lister: ObjectLister
  resource(kind: Kind): ResourceDeps
  commitBootstrapObjects(objects: readonly BootstrapObject[], signal: AbortSignal): Promise<void>
  /** Whether the APIs of add-ons are served, such as the metrics API. */
  servesAddOns(): boolean
  readonly clock: Clock
  readonly log: Log
}

const managedLabel = 'kube-aggregator.kubernetes.io/automanaged'
const retryMs = 1_000

export class ApiServiceController {
  readonly #deps: ApiServiceControllerDeps
  /** The group versions to reconcile, by the names of their APIServices. */
  readonly #due = new Map<string, GroupVersion>()
  #changed = Promise.withResolvers<void>()

  constructor(deps: ApiServiceControllerDeps) {
    this.#deps = deps
  }

  /** Definitions add and remove group versions. */
  readonly catalogueObserver: CatalogueObserver = {
    changed: (removed: CustomResource | undefined, added: CustomResource | undefined) => {
      for (const { kind } of [...(removed?.versions ?? []), ...(added?.versions ?? [])]) this.#enqueue(kind)
    },
  }

  /**
   * An APIService that a user removes or changes is registered again; one that outlived its definitions is removed at the
   * start. After an APIService without the label, which named another server, this server serves the group version again.
   */
  readonly serviceObserver: CacheObserver = {
    changed: (now: ApiObject | undefined, before: ApiObject | undefined) => {
      const changed = now ?? before
      if (changed === undefined || (now !== undefined && !isManaged(now))) return
      const { group = '', version = '' } = (changed as APIService).spec
      this.#enqueue({ group, version })
    },
  }

  /** The first kubelet that serves on a port makes add-ons available. */
  readonly nodeObserver: CacheObserver = {
    changed: (now: ApiObject | undefined, before: ApiObject | undefined) => {
      if (now === undefined || !hasPort(now as Node) || (before !== undefined && hasPort(before as Node))) return
      for (const each of addOnGroupVersions) this.#enqueue(each)
    },
  }

  #enqueue({ group, version }: GroupVersion): void {
    this.#due.set(`${version}.${group}`, { group, version })
    this.#changed.resolve()
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await unlessAborted(this.#changed.promise, signal).catch(() => {}) // the loop checks the signal
      if (signal.aborted) return
      const due = [...this.#due.values()]
      this.#due.clear()
      this.#changed = Promise.withResolvers()
      await this.#reconcile(due, signal)
    }
  }

  async #reconcile(due: readonly GroupVersion[], signal: AbortSignal): Promise<void> {
    const { lister, clock, log } = this.#deps
    try {
      const wanted = due.flatMap((each) => this.#wanted(each))
      await this.#deps.commitBootstrapObjects(wanted, signal)
      for (const each of due) {
        const existing = lister.get(apiService, '', `${each.version}.${each.group}`)
        if (existing !== undefined && isManaged(existing) && !this.#hasCustomKinds(each))
          await removeInternally(this.#deps.resource(apiService), existing, context(signal))
      }
    } catch (error) {
      if (signal.aborted) return
      if (!hasReason(error, 'NotFound')) log.warn('APIServices could not be reconciled', { error: errorText(error) })
      clock.after(retryMs, () => {
        for (const each of due) this.#enqueue(each)
      })
    }
  }

  #wanted(groupVersion: GroupVersion): readonly BootstrapObject[] {
    if (this.#hasCustomKinds(groupVersion)) return [apiServiceOf(groupVersion)]
    const isAddOn = addOnGroupVersions.some(
      (each) => each.group === groupVersion.group && each.version === groupVersion.version,
    )
    return isAddOn && this.#deps.servesAddOns() ? [addOnApiServiceOf(groupVersion)] : []
  }

  #hasCustomKinds(groupVersion: GroupVersion): boolean {
    return this.#deps.catalogue.inGroupVersion(groupVersion).some(({ custom }) => custom !== undefined)
  }
}

/** Those of built-in groups have another value. */
const isManaged = ({ metadata }: ApiObject): boolean => metadata.labels?.[managedLabel] === 'true'

const hasPort = ({ status }: Node): boolean => status.daemonEndpoints?.kubeletEndpoint !== undefined

const apiServiceOf = ({ group, version }: GroupVersion): BootstrapObject => {
  const spec = { group, version, groupPriorityMinimum: 1_000, versionPriority: 100 }
  return {
    kind: apiService,
    object: {
      apiVersion: apiService.apiVersion,
      kind: apiService.kind,
      metadata: { name: `${version}.${group}`, labels: { [managedLabel]: 'true' } },
      spec,
    } as BootstrapObject['object'],
    status: (made) => apiService.initialStatus?.(made as APIService),
    update: (current) =>
      isManaged(current) && !equalValues((current as APIService).spec, spec)
        ? ({ ...current, spec } as APIService)
        : undefined,
  }
}

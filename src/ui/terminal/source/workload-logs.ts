// followWorkloadLogs: the logs of all pods that a workload or a Service selects, also of pods that are created later.
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import { drillDownFrom } from '../state/drill-down.ts'
import { objectText, type ObjectRef, type Resource } from '../state/resources.ts'
import { followContainer, type LogLines } from './container-log.ts'
import { containerNames } from './container-rows.ts'
import { followList, type ListDeps, type ListPage } from './follow-list.ts'
import { jsonType, targetOf } from './server-api.ts'

/** Each container has a connection of its own. */
export const podsMax = 20

export async function followWorkloadLogs(
  workload: ObjectRef,
  isPrevious: boolean,
  log: LogLines,
  resources: readonly Resource[],
  deps: ListDeps,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name } = workload
  const object = await deps.api.read(targetOf(workload.resource, { namespace, name }), jsonType, signal)
  const source = drillDownFrom(workload, object, resources)
  if (source?.kind !== 'list') throw new Error(`${objectText(workload)} selects no pods`)
  const { resource, selector } = source
  const follow = async (pod: Pod): Promise<void> => {
    const ref: ObjectRef = { resource, namespace, name: pod.metadata.name }
    const containers = containerNames(pod).map((container) => {
      const prefix = `[${ref.name}/${container}] `
      return followContainer({ pod: ref, container, isPrevious, prefix }, log, deps, signal)
    })
    await Promise.all(containers)
  }
  const pods = new FollowedPods(follow, log)
  await followList<ListPage & { readonly items?: readonly Pod[] }>(
    {
      target: (query) => targetOf(resource, { namespace }, { labelSelector: selector?.labelSelector, ...query }),
      accept: jsonType,
      isWatchable: true,
    },
    {
      listed: (pages) => pods.listed(pages.flatMap(({ items = [] }) => items)),
      changed(events) {
        for (const { type, object: changed } of events)
          if (type === 'DELETED') pods.removed(changed as Pod)
          else pods.added(changed as Pod)
      },
      failed: (reason) => log.add([`(no pods: ${reason})`]),
    },
    deps,
    signal,
  )
  await pods.ended()
}

/** Which pods are followed: at most `podsMax` at a time, each once. */
class FollowedPods {
  readonly #follow: (pod: Pod) => Promise<void>
  readonly #log: LogLines
  #known = new Set<string>()
  readonly #running = new Set<Promise<void>>()

  constructor(follow: (pod: Pod) => Promise<void>, log: LogLines) {
    this.#follow = follow
    this.#log = log
  }

  listed(pods: readonly Pod[]): void {
    this.#log.add(pods.length === 0 ? ['(there are no pods)'] : [])
    this.#known = this.#known.intersection(new Set(pods.map(({ metadata }) => metadata.uid)))
    for (const pod of pods) this.added(pod)
  }

  added(pod: Pod): void {
    const { uid, name } = pod.metadata
    if (this.#known.has(uid)) return
    this.#known.add(uid)
    if (this.#running.size >= podsMax) return this.#log.add([`[${name}] (not shown: ${podsMax} pods are followed)`])
    const running = this.#follow(pod).finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  removed({ metadata: { uid } }: Pod): void {
    this.#known.delete(uid)
  }

  async ended(): Promise<void> {
    await Promise.all(this.#running)
  }
}

// onceReader: reads each kind and each log of a cluster once, so that a report about all objects takes one list for each kind.
// Objects in a namespace and objects by name are selected from the list. A user who may not list a kind in all namespaces may be allowed
// to list it in `scope`.
import { getOrInsert } from '../../base/collections/get-or-insert.ts'
import { qualifiedResource, type ResourceType } from '../../api/kind/kind.ts'
import { namespaceOf, objectKey, type ApiObject } from '../../api/meta/object.ts'
import type { ClusterReader } from './explainer/cluster-reader.ts'

interface Listed {
  readonly all: readonly ApiObject[]
  readonly byNamespace: ReadonlyMap<string, readonly ApiObject[]>
  readonly byKey: ReadonlyMap<string, ApiObject>
}

export interface OnceReader extends ClusterReader {
  /** The kinds that could be listed in the scope only. */
  readonly partial: ReadonlySet<string>
}

export function onceReader(cluster: ClusterReader, scope = ''): OnceReader {
  const partial = new Set<string>()
  const lists = new Map<ResourceType, Promise<Listed>>()
  const listed = (kind: ResourceType): Promise<Listed> =>
    getOrInsert(lists, kind, async () => {
      const everywhere = await cluster.list(kind, '')
      const isRefused = everywhere.length === 0 && cluster.unreadable?.has(qualifiedResource(kind)) === true
      const all = isRefused && scope !== '' ? await cluster.list(kind, scope) : everywhere
      if (isRefused && all.length > 0) partial.add(qualifiedResource(kind))
      return {
        all,
        byNamespace: Map.groupBy(all, namespaceOf),
        byKey: new Map(all.map((object) => [objectKey(namespaceOf(object), object.metadata.name), object])),
      }
    })
  const outputs = new Map<string, Promise<string>>()
  return {
    ...cluster,
    partial,
    lastOutput: (pod, container, which) =>
      getOrInsert(
        outputs,
        `${pod.metadata.uid} ${container} ${which}`,
        () => cluster.lastOutput?.(pod, container, which) ?? Promise.resolve(''),
      ),
    async list<T extends ApiObject>(kind: ResourceType<T>, namespace: string) {
      const { all, byNamespace } = await listed(kind)
      return (namespace === '' ? all : (byNamespace.get(namespace) ?? [])) as readonly T[]
    },
    async find<T extends ApiObject>(kind: ResourceType<T>, namespace: string, name: string) {
      return (await listed(kind)).byKey.get(objectKey(namespace, name)) as T | undefined
    },
  }
}

// Records in the marker which store a cluster uses, so that `reset` removes it and a lost store is detected.
import type { Store } from '../../store/store.ts'
import type { StoreChoice } from './open-store.ts'
import type { DataDirectory } from './open-directory.ts'

/** The prefix of all objects, as upstream stores them. */
export const registryRange = { start: '/registry/', end: '/registry0' } as const

export async function recordStore(
  directory: DataDirectory,
  choice: StoreChoice,
  store: Store,
  signal: AbortSignal,
): Promise<void> {
  switch (choice.kind) {
    case 'memory':
      return
    case 'sqlite':
      return directory.note({ hasStore: true, lastStore: 'sqlite' })
    case 'etcd': {
      // Its data is that of all servers; a reset of this machine removes its own member.
      if (choice.isManaged === true) return directory.note({ hasStore: true, lastStore: 'etcd' })
      const { endpoints, tlsPaths } = choice
      const known = directory.marker.etcd
      const isSame = known?.endpoints.some((endpoint) => endpoints.includes(endpoint)) === true
      const wasEmpty = isSame
        ? known.wasEmpty
        : (await store.range({ ...registryRange, limit: 1 }, signal)).items.length === 0
      return directory.note({ etcd: { endpoints, tlsPaths, wasEmpty }, lastStore: 'etcd' })
    }
    default:
      return choice satisfies never
  }
}

// Opens the selected store.
import { realClock } from '../../base/time/clock.ts'
import { systemRandom } from '../../base/random/random.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { EtcdStore } from '../../store/etcd/etcd-store.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import { SqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../store/store.ts'

export type StoreChoice =
  | { readonly kind: 'memory' }
  /** A file in the data directory. */
  | { readonly kind: 'sqlite' }
  | EtcdChoice

export interface EtcdChoice {
  readonly kind: 'etcd'
  readonly endpoints: readonly string[]
  readonly tlsPaths: EtcdTlsPaths
  /** A prefix of all keys in etcd. */
  readonly prefix?: string
  /** Its members run beside the servers of this cluster. The endpoints follow them. */
  readonly isManaged?: boolean
}

/** PEM files: the authority of etcd's certificates, and our client certificate. */
export interface EtcdTlsPaths {
  readonly authority?: string | undefined
  readonly certificate?: string | undefined
  readonly key?: string | undefined
}

const { signal } = new AbortController()
const memberSyncMs = 30_000

export async function openStore(choice: StoreChoice, dataDirectory: string): Promise<Store> {
  const { workers, http2 } = nodePlatform
  switch (choice.kind) {
    case 'memory':
      return new MemoryStore(realClock)
    case 'sqlite':
      return SqliteStore.open({ path: `${dataDirectory}/store.db`, workers, clock: realClock }, signal)
    case 'etcd': {
      const tls = await readTls(choice.tlsPaths)
      const deps = { http2, clock: realClock, random: systemRandom }
      const sync = choice.isManaged === true ? { syncMs: memberSyncMs } : {}
      const { endpoints, prefix = '' } = choice
      return EtcdStore.open({ ...deps, ...sync, endpoints, prefix, tls }, signal)
    }
    default:
      return choice satisfies never
  }
}

export async function readTls(paths: EtcdTlsPaths) {
  const read = async (path: string | undefined) => {
    if (path === undefined) return undefined
    const content = await nodePlatform.files.read(path)
    if (content === undefined) throw new Error(`there is no file ${path}`)
    return new TextDecoder().decode(content)
  }
  const [authority, certificate, key] = await Promise.all([
    read(paths.authority),
    read(paths.certificate),
    read(paths.key),
  ])
  return {
    ...(authority === undefined ? {} : { authority }),
    ...(certificate === undefined ? {} : { certificate }),
    ...(key === undefined ? {} : { key }),
  }
}

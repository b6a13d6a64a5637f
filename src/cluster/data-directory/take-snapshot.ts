// Takes a snapshot of a data directory: all objects and, with a passphrase, the keys that identify the cluster.
import { existsSync, statSync } from 'node:fs'
import { link, open, readFile, rename, rm } from 'node:fs/promises'
import { rfc3339, type Clock } from '../../base/time/clock.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { Compacted, StoreUnavailable } from '../../store/store.ts'
import { takeSnapshot } from '../../store/sqlite/sqlite-snapshot.ts'
import { writeStoreFile } from '../../store/sqlite/write-store-file.ts'
import { etcdOf } from './cluster-etcd.ts'
import { identityFiles, storeFiles } from './directory-contents.ts'
import { encryptionConfigFile } from '../policy/encryption-at-rest.ts'
import { readMarker, type Marker } from './directory-marker.ts'
import { clusterKeys } from './move-store.ts'
import { openStore, type EtcdChoice } from './open-store.ts'
import { archiveVolumes, volumeNames, volumesPart } from './volume-archive.ts'
import { writeSnapshotFile, type NewHeader, type PartSource } from './snapshot-file.ts'

export interface SnapshotOptions {
  readonly directory: string
  readonly to: string
  /** Keys are only included with a passphrase. */
  readonly passphrase: string | undefined
  /** Replaces an existing file. */
  readonly isForced: boolean
  /** Includes the content of the volumes of the class local-path. */
  readonly hasVolumes: boolean
  /** The uid of the namespace kube-system, for snapshots that are removed by their number. */
  readonly cluster?: string | undefined
}

export const storePart = 'store.db'
export const encryptionPart = `pki/${encryptionConfigFile}`

/**
 * Also works while the cluster runs; one on etcd must run. Whatever the store, the content is a store of SQLite. The file is
 * written completely or not at all. Returns its header.
 */
export async function snapshotDirectory(
  { directory, to, passphrase, isForced, hasVolumes, cluster }: SnapshotOptions,
  clock: Clock,
  signal: AbortSignal,
): Promise<NewHeader> {
  const marker = await readMarker(directory)
  const source = sourceOf(directory, marker)
  if (!isForced && existsSync(to)) throw new Error(alreadyThere(to))
  const copy = `${directory}/store.db.snapshot-${process.pid}`
  const building = `${to}.${process.pid}.tmp`
  const archive = `${to}.${process.pid}.volumes.tmp`
  try {
    if (source.kind === 'etcd') await copyEtcd(source, copy, clock, signal)
    else await takeSnapshot(nodePlatform.workers, source.path, copy, signal)
    const keys = passphrase === undefined ? [] : await keyParts(directory, marker)
    const isArchived = hasVolumes && (await volumeNames(directory)).length > 0
    const areChanged = isArchived && (await archiveVolumes(directory, archive, signal))
    const header: NewHeader = {
      createdAt: rfc3339(clock.nowMs()),
      name: marker?.name ?? 'coxswain',
      keys: passphrase === undefined ? 'omitted' : 'included',
      encryptionConfig: marker?.encryptionConfig,
      settings: marker?.server?.settings ?? marker?.settings,
      cluster,
      nodes: marker?.nodes ?? [],
      ...(isArchived ? { volumes: areChanged ? 'changed' : 'unchanged' } : {}),
    }
    const volumes = isArchived ? [filePart(volumesPart, archive)] : []
    await writeSnapshotFile(building, header, [filePart(storePart, copy), ...keys, ...volumes], passphrase)
    await publish(building, to, isForced)
    return header
  } finally {
    for (const name of storeFiles) await rm(name.replace('store.db', copy), { force: true })
    await rm(building, { force: true })
    await rm(archive, { force: true })
  }
}

const alreadyThere = (path: string): string =>
  `${path} is already there; choose another file, or replace it with --force`

/** Unlike a rename, a link does not replace an existing file. */
async function publish(building: string, to: string, isForced: boolean): Promise<void> {
  if (isForced) return rename(building, to)
  await link(building, to).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? new Error(alreadyThere(to), { cause: error }) : error
  })
}

const filePart = (name: string, path: string): PartSource => ({
  name,
  bytes: statSync(path).size,
  async *read() {
    const file = await open(path)
    yield* file.createReadStream({ highWaterMark: 1 << 20 }) as AsyncIterable<Uint8Array>
  },
})

async function keyParts(directory: string, marker: Marker | undefined): Promise<PartSource[]> {
  const parts = identityFiles.map((name) => keyPart(`pki/${name}`, `${directory}/pki/${name}`))
  const config = marker?.encryptionConfig
  return Promise.all([...parts, ...(config === undefined ? [] : [keyPart(encryptionPart, config)])])
}

async function keyPart(name: string, path: string): Promise<PartSource> {
  const content = await readFile(path).catch((cause: unknown) => {
    throw new Error(`${path} cannot be read; without it the snapshot could not be restored`, { cause })
  })
  return {
    name,
    bytes: content.length,
    async *read() {
      yield content
    },
  }
}

type Source = EtcdChoice | { readonly kind: 'sqlite'; readonly path: string }

function sourceOf(directory: string, marker: Marker | undefined): Source {
  const path = `${directory}/store.db`
  const hasFile = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0
  const etcd = marker && etcdOf(directory, marker)
  // The file is the previous store of a cluster that was started on another one, and the current one of a cluster that moves.
  if (hasFile && (marker?.lastStore !== 'etcd' || marker.server !== undefined)) return { kind: 'sqlite', path }
  if (etcd !== undefined) return etcd
  throw new Error(`there is no cluster in ${directory}`)
}

async function copyEtcd(etcd: EtcdChoice, to: string, clock: Clock, signal: AbortSignal): Promise<void> {
  const where = etcd.endpoints.join(', ')
  const store = await openStore(etcd, '').catch((cause: unknown) => {
    throw cause instanceof StoreUnavailable
      ? new Error(`a snapshot of a cluster on etcd is taken while it runs; etcd at ${where} cannot be reached`, {
          cause,
        })
      : cause
  })
  try {
    const { workers } = nodePlatform
    await writeStoreFile(store, to, clusterKeys, { workers, clock }, signal)
  } catch (error) {
    if (!(error instanceof Compacted)) throw error
    throw new Error(`etcd at ${where} removed the history before all of it was read; repeat the command`, {
      cause: error,
    })
  } finally {
    await store.close()
  }
}

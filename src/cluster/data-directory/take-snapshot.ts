// Takes a snapshot of a data directory: all objects and, with a passphrase, the keys that identify the cluster.
import { existsSync, statSync } from 'node:fs'
import { link, open, readFile, rename, rm } from 'node:fs/promises'
import { rfc3339, type Clock } from '../../base/time/clock.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { takeSnapshot } from '../../store/sqlite/sqlite-snapshot.ts'
import { identityFiles } from './directory-contents.ts'
import { readMarker } from './directory-marker.ts'
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
}

export const storePart = 'store.db'

/** Also works while the cluster runs. The file is written completely or not at all. Returns its header. */
export async function snapshotDirectory(
  { directory, to, passphrase, isForced, hasVolumes }: SnapshotOptions,
  clock: Clock,
  signal: AbortSignal,
): Promise<NewHeader> {
  const marker = await readMarker(directory)
  const store = `${directory}/store.db`
  if ((statSync(store, { throwIfNoEntry: false })?.size ?? 0) === 0)
    throw new Error(
      marker?.etcd === undefined && marker?.server === undefined
        ? `there is no cluster on SQLite in ${directory}`
        : `the cluster of ${directory} keeps its objects in etcd; take a snapshot there: etcdctl snapshot save`,
    )
  if (!isForced && existsSync(to)) throw new Error(alreadyThere(to))
  const copy = `${directory}/store.db.snapshot-${process.pid}`
  const building = `${to}.${process.pid}.tmp`
  const archive = `${to}.${process.pid}.volumes.tmp`
  try {
    await takeSnapshot(nodePlatform.workers, store, copy, signal)
    const keys =
      passphrase === undefined ? [] : await Promise.all(identityFiles.map((name) => keyPart(directory, name)))
    const isArchived = hasVolumes && (await volumeNames(directory)).length > 0
    const areChanged = isArchived && (await archiveVolumes(directory, archive, signal))
    const header: NewHeader = {
      createdAt: rfc3339(clock.nowMs()),
      name: marker?.name ?? 'coxswain',
      keys: passphrase === undefined ? 'omitted' : 'included',
      encryptionConfig: marker?.encryptionConfig,
      nodes: marker?.nodes ?? [],
      ...(isArchived ? { volumes: areChanged ? 'changed' : 'unchanged' } : {}),
    }
    const volumes = isArchived ? [filePart(volumesPart, archive)] : []
    await writeSnapshotFile(building, header, [filePart(storePart, copy), ...keys, ...volumes], passphrase)
    await publish(building, to, isForced)
    return header
  } finally {
    await rm(copy, { force: true })
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

async function keyPart(directory: string, name: string): Promise<PartSource> {
  const content = await readFile(`${directory}/pki/${name}`)
  return {
    name: `pki/${name}`,
    bytes: content.length,
    async *read() {
      yield content
    },
  }
}

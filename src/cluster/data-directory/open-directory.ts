// Opens a data directory: checks access, locks it, and marks it as ours.
import { existsSync, statSync } from 'node:fs'
import { nodePlatform } from '../../platform/node/platform.ts'
import { lockDirectory } from './directory-lock.ts'
import { checkAccess } from './access-checks.ts'
import { identityFiles } from './directory-contents.ts'
import { isLegacy, newMarker, readMarker, writeMarker, type DirectoryKind, type Marker } from './directory-marker.ts'

export interface DataDirectory extends AsyncDisposable {
  readonly folder: string
  readonly marker: Marker
  /** Records what was created, before or right after it is. */
  note(fields: Partial<Marker>): Promise<void>
}

export async function openDataDirectory(folder: string, kind: DirectoryKind): Promise<DataDirectory> {
  const isFolderOurs = !existsSync(folder)
  await nodePlatform.files.makeDirectory(folder).catch((cause: unknown) => {
    throw new Error(`the data directory ${folder} cannot be used`, { cause })
  })
  checkAccess(folder)
  await using starting = new AsyncDisposableStack()
  starting.use(await lockDirectory(folder))
  const found = await readMarker(folder)
  const other = kind === 'cluster' ? 'kubelet' : 'cluster'
  if (found?.kind === other || (found === undefined && isLegacy(folder, other)))
    throw new Error(`${folder} is the data directory of a ${other}, not of a ${kind}; choose another --data-dir`)
  let marker = found ?? { ...newMarker(folder, kind), ...(isFolderOurs ? { isFolderOurs } : {}) }
  if (found === undefined) await writeMarker(folder, marker)
  let lastNote = Promise.resolve()
  /** Serialised, because each update writes the whole marker. */
  const writeNote = async (before: Promise<void>, fields: Partial<Marker>): Promise<void> => {
    await before
    const next = { ...marker, ...fields }
    if (JSON.stringify(next) === JSON.stringify(marker)) return
    await writeMarker(folder, next)
    marker = next
  }
  const held = starting.move()
  return {
    folder,
    get marker() {
      return marker
    },
    note(fields) {
      const noted = writeNote(lastNote, fields)
      lastNote = noted.catch(() => {})
      return noted
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  }
}

/**
 * Throws when the directory has the keys of a cluster whose store is missing. A start would begin a different cluster.
 */
export function checkStorePresent({ folder, marker }: DataDirectory, store: 'sqlite' | 'memory' | 'etcd'): void {
  const ways = `restore a snapshot with "coxswain restore <file> --data-dir ${folder}", or give the cluster up with "coxswain reset --data-dir ${folder} --yes"`
  if (marker.restoring !== undefined)
    throw new Error(`the restore of ${marker.restoring} into ${folder} was interrupted; ${ways}`)
  if (store !== 'sqlite' || marker.hasStore !== true) return
  const path = `${folder}/store.db`
  const bytes = sizeOf(path)
  const keys = identityFiles.map((name) => `${folder}/pki/${name}`).find((file) => sizeOf(file) !== undefined)
  if (keys === undefined || (bytes !== undefined && bytes > 0)) return
  throw new Error(
    `the store ${path} ${bytes === undefined ? 'is missing' : 'is empty (0 bytes)'}, but the keys of its cluster are there (${keys}); ${ways}`,
  )
}

const sizeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.size

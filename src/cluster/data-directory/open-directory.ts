// Opens a data directory: checks access, locks it, and marks it as ours.
import { readdirSync, statSync } from 'node:fs'
import { nodePlatform } from '../../platform/node/platform.ts'
import { lockDirectory } from './directory-lock.ts'
import { checkAccess } from './access-checks.ts'
import { identityFiles, outputName } from './directory-contents.ts'
import { isLegacy, newMarker, readMarker, writeMarker, type DirectoryKind, type Marker } from './directory-marker.ts'

export interface DataDirectory extends AsyncDisposable {
  readonly path: string
  readonly marker: Marker
  /** Records what was created, before or right after it is. */
  note(fields: Partial<Marker>): Promise<void>
}

export async function openDataDirectory(directory: string, kind: DirectoryKind): Promise<DataDirectory> {
  const isFolderOurs = isNew(directory)
  await nodePlatform.files.makeDirectory(directory).catch((cause: unknown) => {
    throw new Error(`the data directory ${directory} cannot be used`, { cause })
  })
  checkAccess(directory)
  await using starting = new AsyncDisposableStack()
  starting.use(await lockDirectory(directory))
  const found = await readMarker(directory)
  const other = kind === 'cluster' ? 'kubelet' : 'cluster'
  if (found?.kind === other || (found === undefined && isLegacy(directory, other)))
    throw new Error(`${directory} is the data directory of a ${other}, not of a ${kind}; choose another --data-dir`)
  let marker = found ?? { ...newMarker(directory, kind), ...(isFolderOurs ? { isFolderOurs } : {}) }
  if (found === undefined) await writeMarker(directory, marker)
  let lastNote = Promise.resolve()
  /** Serialised, because each update writes the whole marker. */
  const writeNote = async (before: Promise<void>, fields: Partial<Marker>): Promise<void> => {
    await before
    const next = { ...marker, ...fields }
    if (JSON.stringify(next) === JSON.stringify(marker)) return
    await writeMarker(directory, next)
    marker = next
  }
  const held = starting.move()
  return {
    path: directory,
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

/** There is none, or `up --detach` has just made it for its output. */
function isNew(directory: string): boolean {
  const found = statSync(directory, { throwIfNoEntry: false })
  if (found?.isDirectory() !== true) return found === undefined
  const names = readdirSync(directory)
  return names.length === 1 && names[0] === outputName
}

/**
 * Throws when the directory has the keys of a cluster whose store is missing. A start would begin a different cluster.
 */
export function checkStorePresent(
  { path: directory, marker }: DataDirectory,
  store: 'sqlite' | 'memory' | 'etcd',
): void {
  const ways = `restore a snapshot with "coxswain restore <file> --data-dir ${directory}", or give the cluster up with "coxswain reset --data-dir ${directory} --yes"`
  if (marker.restoring !== undefined)
    throw new Error(`the restore of ${marker.restoring} into ${directory} was interrupted; ${ways}`)
  if (marker.server !== undefined && store !== 'etcd')
    throw new Error(
      `${directory} is the data directory of a server; start it with "coxswain server", or move it from etcd to SQLite with "coxswain up --store sqlite"`,
    )
  if (store !== 'sqlite' || marker.hasStore !== true) return
  const path = `${directory}/store.db`
  const bytes = sizeOf(path)
  const keys = identityFiles.map((name) => `${directory}/pki/${name}`).find((file) => sizeOf(file) !== undefined)
  if (keys === undefined || (bytes !== undefined && bytes > 0)) return
  throw new Error(
    `the store ${path} ${bytes === undefined ? 'is missing' : 'is empty (0 bytes)'}, but the keys of its cluster are there (${keys}); ${ways}`,
  )
}

const sizeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.size

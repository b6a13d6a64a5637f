// Restore: replaces the contents of a data directory with a snapshot. The snapshot is verified first and the old
// contents are copied. The next start detects an interrupted restore, which can be repeated.
import { cp, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { resolve } from 'node:path'
import { nodePlatform } from '../../platform/node/platform.ts'
import { restoreSnapshot, takeSnapshot } from '../../store/sqlite/sqlite-snapshot.ts'
import { identityFiles, storeFiles } from './directory-contents.ts'
import { openDataDirectory } from './open-directory.ts'
import { encryptionPart, storePart } from './take-snapshot.ts'
import { unpackVolumes, volumesPart, type UnpackedVolumes } from './volume-archive.ts'
import { openSnapshotFile, type OpenSnapshot, type SnapshotHeader } from './snapshot-file.ts'

export interface RestoreReport {
  /** Undefined for a bare copy of a store, as older versions wrote it. */
  readonly header: SnapshotHeader | undefined
  /** The previous contents, and where they are now. */
  readonly before: {
    readonly store: string | undefined
    readonly keys: string | undefined
    readonly volumes: string | undefined
  }
  /** Whether the directory has keys now: those of the snapshot, its own, or none. */
  readonly keys: 'restored' | 'kept' | 'none'
}

export async function restoreDirectory(
  directory: string,
  from: string,
  passphrase: string | undefined,
  signal: AbortSignal,
): Promise<RestoreReport> {
  await stat(from).catch((cause: unknown) => {
    throw new Error(`there is no snapshot ${from}`, { cause })
  })
  await using snapshot = await openSnapshotFile(from)
  await using opened = await openDataDirectory(directory, 'cluster')
  if (opened.marker.server !== undefined)
    throw new Error(
      `${directory} is the data directory of a server; restore into another one, or give this server up: coxswain reset --data-dir ${directory} --yes`,
    )
  const { workers, files } = nodePlatform
  const store = `${directory}/store.db`
  const fresh = `${directory}/store.db.fresh`
  const pki = `${directory}/pki`
  const freshPki = `${directory}/pki.fresh`
  const extracted = `${directory}/store.db.snapshot-${process.pid}`
  const archive = `${directory}/volumes.tar.snapshot-${process.pid}`
  let volumes: UnpackedVolumes | undefined
  const clear = async () => {
    for (const name of storeFiles)
      await rm(`${directory}/${name.replace('store.db', 'store.db.fresh')}`, { force: true })
    await rm(freshPki, { recursive: true, force: true })
    await rm(extracted, { force: true })
    await rm(archive, { force: true })
    await volumes?.discard()
  }
  try {
    await clear()
    await files.makeDirectory(freshPki)
    // Written completely next to the store before anything is replaced.
    if (snapshot !== undefined)
      await extractTo(snapshot, passphrase, { store: extracted, pki: freshPki, volumes: archive })
    if (snapshot?.header.volumes !== undefined) volumes = await unpackVolumes(archive, directory, signal)
    await restoreSnapshot({ from: snapshot === undefined ? from : extracted, to: fresh, workers }, signal)
    const hasKeys = (await readdir(freshPki)).length > 0
    const isRepeated = opened.marker.restoring !== undefined
    const before = await keepAside(directory, { isRepeated, hasKeys }, signal)
    await opened.note({ restoring: from })
    for (const name of storeFiles) await rm(`${directory}/${name}`, { force: true })
    await rename(fresh, store)
    if (hasKeys) {
      await rm(pki, { recursive: true, force: true })
      await rename(freshPki, pki)
    }
    const keptVolumes = await volumes?.replace(isRepeated)
    const { foreign, nodes = [] } = opened.marker
    const hasEncryption = snapshot?.header.parts.some(({ name }) => name === encryptionPart) === true
    await opened.note({
      restoring: undefined,
      isComplete: true,
      hasStore: true,
      foreign: hasKeys ? foreign.filter((name) => !name.startsWith('pki/')) : foreign,
      nodes: [...new Set([...nodes, ...(snapshot?.header.nodes ?? [])])],
      settings: snapshot?.header.settings,
      lastStore: 'sqlite',
      ...(hasKeys ? { encryptionConfig: hasEncryption ? resolve(directory, encryptionPart) : undefined } : {}),
    })
    const isThere = (await files.read(`${pki}/ca.key`)) !== undefined
    return {
      header: snapshot?.header,
      before: { ...before, volumes: keptVolumes },
      keys: hasKeys ? 'restored' : isThere ? 'kept' : 'none',
    }
  } finally {
    await clear()
  }
}

/** Copies, so that an interrupted restore loses nothing. A repeated restore does not copy the incomplete state. */
async function keepAside(
  directory: string,
  { isRepeated, hasKeys }: { readonly isRepeated: boolean; readonly hasKeys: boolean },
  signal: AbortSignal,
): Promise<Omit<RestoreReport['before'], 'volumes'>> {
  const isThere = async (path: string) => ((await stat(path).catch(() => undefined))?.size ?? 0) > 0
  const store = `${directory}/store.db`
  const keptStore = `${directory}/store.db.before-restore`
  const pki = `${directory}/pki`
  const keptPki = `${directory}/pki.before-restore`
  if (isRepeated)
    return {
      store: (await isThere(keptStore)) ? keptStore : undefined,
      keys: (await isThere(keptPki)) ? keptPki : undefined,
    }
  const hadStore = await isThere(store)
  if (hadStore) {
    // Under a temporary name until it is complete.
    await takeSnapshot(nodePlatform.workers, store, `${store}.kept`, signal)
    await rename(`${store}.kept`, keptStore)
  }
  const hadKeys = hasKeys && (await isThere(`${pki}/ca.key`))
  if (hadKeys) {
    await rm(keptPki, { recursive: true, force: true })
    await cp(pki, keptPki, { recursive: true })
  }
  return { store: hadStore ? keptStore : undefined, keys: hadKeys ? keptPki : undefined }
}

async function extractTo(
  snapshot: OpenSnapshot,
  passphrase: string | undefined,
  to: { readonly store: string; readonly pki: string; readonly volumes: string },
): Promise<void> {
  const paths = new Map<string, string>([
    [storePart, to.store],
    [volumesPart, to.volumes],
    [encryptionPart, encryptionPart.replace('pki', to.pki)],
    ...identityFiles.map((name) => [`pki/${name}`, `${to.pki}/${name}`] as const),
  ])
  const handles = new Map<string, FileHandle>()
  try {
    await snapshot.extract(passphrase, async (part, chunk) => {
      const path = paths.get(part)
      if (path === undefined) throw new Error(`the snapshot holds a part that is not known: ${JSON.stringify(part)}`)
      const handle = handles.get(part) ?? (await open(path, 'wx', 0o600))
      handles.set(part, handle)
      await handle.writeFile(chunk)
    })
    for (const handle of handles.values()) await handle.sync()
  } finally {
    for (const handle of handles.values()) await handle.close()
  }
}

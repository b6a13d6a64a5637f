// Writes and removes a cluster's entries in a kubeconfig file. The file is replaced atomically, keeps its owner, and is
// never readable by others.
import { chown, lstat, open, readFile, realpath, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Clock } from '../../base/time/clock.ts'
import { kubeconfigText, parseKubeconfig, type Kubeconfig } from '../../pki/kubeconfig.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import type { KubeconfigOwner } from './merge-kubeconfig.ts'

const fileBytesMax = 4 << 20
/** kubectl uses a lock file of this name while it writes. */
const lockSuffix = '.lock'
const lockTries = 50
const lockWaitMs = 100
/** A write takes milliseconds, so an older lock belongs to a crashed program. */
const lockStaleMs = 3_000
const privateMode = 0o600

export interface WrittenKubeconfig {
  readonly contextName: string
  readonly isCurrent: boolean
  /** The backup of the file from before the cluster's first entry. */
  readonly backupPath: string | undefined
}

/** Throws when the entries cannot be added; nothing is written. */
export async function checkKubeconfig(path: string, owner: KubeconfigOwner): Promise<void> {
  const text = await readIfPresent(path)
  if (text === undefined || isOursAlone(text, owner)) return
  await merged(path, text, owner, { server: '', authority: '', identity: { certificate: '', key: '' } })
}

/** Adds or updates the cluster's entries. */
export async function writeKubeconfig(
  path: string,
  owner: KubeconfigOwner,
  access: Kubeconfig,
  clock: Clock,
  signal: AbortSignal,
): Promise<WrittenKubeconfig> {
  const target = await realPathOf(path)
  await using _lock = await lock(target, clock, signal)
  const text = await readIfPresent(target)
  if (text === undefined || isOursAlone(text, owner)) {
    await replace(target, ownText(owner, access))
    return { contextName: owner.name, isCurrent: true, backupPath: undefined }
  }
  const result = await merged(path, text, owner, access)
  const backupPath = result.wasPresent || text.trim() === '' ? undefined : `${target}.before-${owner.name}`
  if (backupPath !== undefined) await replace(backupPath, text, target)
  if (result.text !== text) await replace(target, result.text)
  return { contextName: result.contextName, isCurrent: result.isCurrent, backupPath }
}

/** Removes the cluster's entries; returns whether there were any. A file without other entries is deleted. */
export async function removeKubeconfig(
  path: string,
  owner: KubeconfigOwner,
  clock: Clock,
  signal: AbortSignal,
): Promise<boolean> {
  if ((await readIfPresent(path)) === undefined) return false
  const target = await realPathOf(path)
  await using _lock = await lock(target, clock, signal)
  const text = (await readIfPresent(target)) ?? ''
  const { removeFromKubeconfig } = await import('./merge-kubeconfig.ts')
  const rest = await naming(path, () => removeFromKubeconfig(text, owner))
  if (rest === undefined) return false
  await (rest === '' ? rm(target, { force: true }) : replace(target, rest))
  return true
}

/** The text for a file that does not exist yet. */
const ownText = ({ name, dataDirectory }: KubeconfigOwner, access: Kubeconfig): string =>
  kubeconfigText(access, { cluster: name, user: `${name}-admin`, dataDirectory })

/** A file that only we have written is rewritten without parsing YAML, which would delay the start. */
function isOursAlone(text: string, owner: KubeconfigOwner): boolean {
  try {
    return text === ownText(owner, parseKubeconfig(text))
  } catch {
    return false
  }
}

async function merged(path: string, text: string, owner: KubeconfigOwner, access: Kubeconfig) {
  const { mergeKubeconfig } = await import('./merge-kubeconfig.ts')
  return naming(path, () => mergeKubeconfig(text, owner, access))
}

async function naming<T>(path: string, work: () => T): Promise<T> {
  try {
    return await Promise.resolve(work())
  } catch (error) {
    throw new Error(`the kubeconfig ${path} cannot be used: ${(error as Error).message}`, { cause: error })
  }
}

async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    const { size } = await stat(path)
    if (size > fileBytesMax) throw new Error(`it has ${size} bytes, more than ${fileBytesMax}`)
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Error(`the kubeconfig ${path} cannot be read`, { cause: error })
  }
}

/** A symbolic link is kept; the file behind it is replaced. */
const realPathOf = async (path: string): Promise<string> => {
  if ((await lstat(path).catch(() => undefined)) === undefined) return path
  return realpath(path)
}

/** Keeps the owner, so that a user's file does not become root's. */
async function replace(path: string, text: string, ownerOf = path): Promise<void> {
  const before = await stat(ownerOf).catch(() => undefined)
  await nodePlatform.files.write(path, text, privateMode)
  if (before !== undefined && before.uid !== process.getuid?.()) await chown(path, before.uid, before.gid)
}

async function lock(path: string, clock: Clock, signal: AbortSignal): Promise<AsyncDisposable> {
  const lockPath = `${path}${lockSuffix}`
  await nodePlatform.files.makeDirectory(dirname(path))
  for (let tries = 1; ; tries++)
    try {
      await (await open(lockPath, 'wx', privateMode)).close()
      return { [Symbol.asyncDispose]: () => rm(lockPath, { force: true }) }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
        throw new Error(`the kubeconfig ${path} cannot be written`, { cause: error })
      if (tries === lockTries)
        throw new Error(
          `the kubeconfig ${path} is being written by another program; if none runs, remove ${lockPath}`,
          {
            cause: error,
          },
        )
      const heldSinceMs = (await stat(lockPath).catch(() => undefined))?.mtimeMs
      if (heldSinceMs !== undefined && clock.nowMs() - heldSinceMs > lockStaleMs) await rm(lockPath, { force: true })
      else await clock.sleep(lockWaitMs, signal)
    }
}

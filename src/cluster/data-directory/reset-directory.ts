// Reset: removes what coxswain created for a cluster or a kubelet, and nothing else. The marker is removed last, so
// that an interrupted reset can be repeated.
import { existsSync } from 'node:fs'
import { readdir, readFile, rm, rmdir } from 'node:fs/promises'
import { realClock } from '../../base/time/clock.ts'
import { operationsMax } from '../../store/store.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { lockDirectory } from './directory-lock.ts'
import { openStore, type StoreChoice } from './open-store.ts'
import { removeKubeconfig } from '../kubeconfig/write-kubeconfig.ts'
import type { AnnounceOutcome } from './announce-reset.ts'
import { checkAccess } from './access-checks.ts'
import { clusterFiles, clusterDirectories, isLeftoverOf, kubeletFiles, markerName } from './directory-contents.ts'
import { isLegacy, newMarker, readMarker, type DirectoryKind, type Marker } from './directory-marker.ts'
import type { LeaveOutcome } from './leave-members.ts'
import { registryRange } from './record-store.ts'

export interface ResetReport {
  readonly kind: DirectoryKind
  /** Files that remain because they are not ours. */
  readonly kept: readonly string[]
  /** Data directories below this one, each with its own marker. */
  readonly nested: readonly string[]
  readonly isDirectoryRemoved: boolean
  /** Kubeconfigs that had entries of the cluster. */
  readonly kubeconfigs: readonly string[]
  readonly etcd: EtcdOutcome | undefined
  /** Of a server with a member of etcd. */
  readonly member: LeaveOutcome | undefined
  /** Of a node that has joined a cluster. */
  readonly node: AnnounceOutcome | undefined
}

export type EtcdOutcome =
  | { readonly kind: 'removed'; readonly keys: number; readonly endpoints: readonly string[] }
  | { readonly kind: 'kept'; readonly endpoints: readonly string[] }

/** The marker of the directory. Rejects a directory that coxswain has not used. */
export async function markerForReset(directory: string): Promise<Marker> {
  if (!existsSync(directory)) throw new Error(`there is no data directory ${directory}; nothing was removed`)
  const marker = await readMarker(directory)
  const kind = marker?.kind ?? (['cluster', 'kubelet'] as const).find((one) => isLegacy(directory, one))
  if (kind === undefined)
    throw new Error(
      `${directory} is not a data directory of coxswain: there is no ${markerName} in it; nothing was removed`,
    )
  checkAccess(directory)
  return marker ?? newMarker(directory, kind)
}

/** `etcd` is a store that the user named; its keys are removed, including those of other writers. */
export async function resetDirectory(
  directory: string,
  etcd: StoreChoice | undefined,
  signal: AbortSignal,
): Promise<ResetReport> {
  const marker = await markerForReset(directory)
  const report = await removeContents(directory, marker, etcd, signal)
  if (report.kept.length > 0 || report.nested.length > 0 || marker.isFolderOurs !== true) return report
  await rmdir(directory)
  return { ...report, isDirectoryRemoved: true }
}

async function removeContents(
  directory: string,
  marker: Marker,
  named: StoreChoice | undefined,
  signal: AbortSignal,
): Promise<ResetReport> {
  await using _lock = await lockDirectory(directory)
  const { kind, foreign } = marker
  const ours = (names: readonly string[]) => names.filter((name) => !foreign.includes(name))
  if (ours(['node']).length > 0) {
    const { removeNode } = await import('./remove-node.ts')
    await removeNode(directory, signal)
  }
  await rejectMounts(directory)
  const use = marker.server?.member
  const member = use && (await (await import('./leave-members.ts')).leaveMembers(directory, use, signal))
  const node =
    kind === 'kubelet' ? await (await import('./announce-reset.ts')).announceReset(directory, signal) : undefined
  const etcd = await removeEtcdKeys(marker, named, signal)
  const kubeconfigs = await removeEntries(directory, marker, signal)
  const files = ours(kind === 'cluster' ? clusterFiles : kubeletFiles)
  for (const path of marker.files ?? []) await rm(path, { force: true })
  for (const name of files) await rm(`${directory}/${name}`, { force: true })
  for (const name of ours(kind === 'cluster' ? clusterDirectories : ['node']))
    await rm(`${directory}/${name}`, { recursive: true, force: true })
  await removeLeftovers(directory, [...files, markerName])
  await rmdir(`${directory}/pki`).catch(() => {}) // missing or not empty
  await rm(`${directory}/${markerName}`, { force: true })
  const left = await namesIn(directory)
  const isNested = (name: string) => existsSync(`${directory}/${name}/${markerName}`)
  const kept = left.filter((name) => !isNested(name))
  const nested = left.filter(isNested)
  return { kind, kept, nested, isDirectoryRemoved: false, kubeconfigs, etcd, member, node }
}

/** A mount below may be the data of a volume. */
async function rejectMounts(directory: string): Promise<void> {
  const mounts = await readFile('/proc/mounts', 'utf8').catch(() => '')
  const mounted = mounts
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .find((path) => path.startsWith(`${directory}/`))
  if (mounted !== undefined)
    throw new Error(`${mounted} is still mounted: stop what uses it and unmount it, or its data would be removed too`)
}

async function removeEntries(directory: string, marker: Marker, signal: AbortSignal): Promise<readonly string[]> {
  const authority = await nodePlatform.files.read(`${directory}/pki/ca.crt`)
  const owner = {
    name: marker.name ?? '',
    dataDirectory: directory,
    authority: authority && new TextDecoder().decode(authority),
  }
  const held: string[] = []
  const merged = marker.foreign.includes('admin.kubeconfig') ? [`${directory}/admin.kubeconfig`] : []
  for (const path of [...(marker.kubeconfigs ?? []), ...merged])
    if (await removeKubeconfig(path, owner, realClock, signal)) held.push(path)
  return held
}

/** Keys that existed before the cluster are only removed if the user names the store. */
async function removeEtcdKeys(
  { etcd: known }: Marker,
  named: StoreChoice | undefined,
  signal: AbortSignal,
): Promise<EtcdOutcome | undefined> {
  const choice = named?.kind === 'etcd' ? named : known && ({ kind: 'etcd', ...known } as const)
  if (choice === undefined) return undefined
  const { endpoints } = choice
  if (named === undefined && known?.wasEmpty !== true) return { kind: 'kept', endpoints }
  const store = await openStore(choice, '').catch((cause: unknown) => {
    throw new Error(`the keys of the cluster in etcd at ${endpoints.join(', ')} cannot be removed; nothing else was`, {
      cause,
    })
  })
  try {
    for (let keys = 0; ;) {
      const { items } = await store.range({ ...registryRange, limit: operationsMax }, signal)
      if (items.length === 0) return { kind: 'removed', keys, endpoints }
      const operations = items.map(({ key }) => ({ kind: 'delete' as const, key }))
      await store.commit({ conditions: [], operations }, signal)
      keys += items.length
    }
  } finally {
    await store.close()
  }
}

async function removeLeftovers(directory: string, files: readonly string[]): Promise<void> {
  for (const below of ['', 'pki/'])
    for (const name of await readdir(`${directory}/${below}`).catch(() => []))
      if (files.some((file) => isLeftoverOf(`${below}${name}`, file))) await rm(`${directory}/${below}${name}`)
}

/** The lock is released after this. */
async function namesIn(directory: string): Promise<readonly string[]> {
  const names = (await readdir(directory)).filter((name) => name !== 'lock').toSorted()
  const inPki = names.includes('pki') ? (await readdir(`${directory}/pki`)).toSorted().map((name) => `pki/${name}`) : []
  return [...names.filter((name) => name !== 'pki' || inPki.length === 0), ...inPki]
}

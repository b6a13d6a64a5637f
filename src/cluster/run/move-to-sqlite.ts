// moveToSqlite: the cluster of a single server leaves etcd for SQLite, as `server --init` moves one to etcd. Keys, values, uids and the
// encryption at rest stay as they are. A move that was interrupted continues.
import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import type { Log } from '../../base/observability/log.ts'
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { prefixEnd } from '../../base/collections/ordered-map.ts'
import { writeStoreFile } from '../../store/sqlite/write-store-file.ts'
import type { Store } from '../../store/store.ts'
import { masterLeasesPrefix } from '../bootstrap/server-endpoints.ts'
import { etcdOf } from '../data-directory/cluster-etcd.ts'
import { etcdBeforeSqlite, storeFiles } from '../data-directory/directory-contents.ts'
import { readMarker, type MemberUse, type ServerUse } from '../data-directory/directory-marker.ts'
import { memberAdmin } from '../data-directory/member-admin.ts'
import { clusterKeys } from '../data-directory/move-store.ts'
import { openDataDirectory, type DataDirectory } from '../data-directory/open-directory.ts'
import { openStore } from '../data-directory/open-store.ts'
import { findEtcd } from '../etcd/etcd-executable.ts'
import { clientUrlOf, endLeftoverEtcd } from '../etcd/etcd-member.ts'
import { startManagedEtcd } from './managed-etcd.ts'
import { mustParseIp } from '../../base/net/ip-address.ts'

export interface MoveOptions {
  readonly dataDirectory: string
  readonly log: Log
  readonly onProgress: (what: string) => void
}

/** Without effect on the directory of another cluster. The server must not run. */
export async function moveToSqlite(options: MoveOptions, signal: AbortSignal): Promise<void> {
  if ((await readMarker(options.dataDirectory))?.server === undefined) return
  await using directory = await openDataDirectory(options.dataDirectory, 'cluster')
  const { server: use, moving } = directory.marker
  if (use === undefined) return
  if (moving === undefined) {
    await writeStore(directory, use, options, signal)
    await directory.note({ moving: 'sqlite' })
  }
  await leaveEtcd(directory, use, signal)
}

const freshPath = (directory: DataDirectory): string => `${directory.path}/store.db.fresh`

/** Nothing that a start of the server needs is changed. */
async function writeStore(
  directory: DataDirectory,
  use: ServerUse,
  options: MoveOptions,
  signal: AbortSignal,
): Promise<void> {
  const fresh = freshPath(directory)
  for (const name of storeFiles) await rm(name.replace('store.db', fresh), { force: true })
  await using etcd = use.member && (await startAlone(directory, use.member, options, signal))
  const choice = etcd?.store ?? etcdOf(directory.path, directory.marker)
  if (choice === undefined) throw new Error(`${directory.path} names no etcd`)
  await using stores = new AsyncDisposableStack()
  const store = stores.adopt(await openStore(choice, ''), (opened) => opened.close())
  if (use.member === undefined) await checkAlone(store, use, signal)
  options.onProgress('moving the objects from etcd to SQLite')
  await writeStoreFile(store, fresh, clusterKeys, { workers: nodePlatform.workers, clock: realClock }, signal)
}

/** From here on the file is the store of the cluster. */
async function leaveEtcd(directory: DataDirectory, { settings }: ServerUse, signal: AbortSignal): Promise<void> {
  const { path } = directory
  const { files, processes } = nodePlatform
  if (existsSync(freshPath(directory))) await rename(freshPath(directory), `${path}/store.db`)
  await endLeftoverEtcd(`${path}/etcd`, { files, processes, clock: realClock }, signal)
  if (existsSync(`${path}/etcd`)) {
    await rm(`${path}/${etcdBeforeSqlite}`, { recursive: true, force: true })
    await rename(`${path}/etcd`, `${path}/${etcdBeforeSqlite}`)
  }
  await directory.note({ server: undefined, moving: undefined, settings, hasStore: true, lastStore: 'sqlite' })
}

async function startAlone(
  directory: DataDirectory,
  member: MemberUse,
  { log, onProgress }: MoveOptions,
  signal: AbortSignal,
) {
  const own = clientUrlOf(mustParseIp(member.address))
  const known = member.endpoints.filter((endpoint) => endpoint !== own)
  if (known.length > 0) throw notAlone(known)
  const { processes, files } = nodePlatform
  const executable = await findEtcd(processes, signal)
  onProgress(`starting etcd ${executable.version}`)
  const deps = { processes, files, clock: realClock, random: systemRandom, log, platform: nodePlatform }
  await using starting = new AsyncDisposableStack()
  const etcd = starting.use(await startManagedEtcd({ directory, member, executable }, deps, signal))
  using admin = await memberAdmin(directory.path, [own])
  const others = (await admin.members(signal)).filter(({ clientUrls }) => !clientUrls.includes(own))
  if (others.length > 0) throw notAlone(others.map(({ name, peerUrls }) => name || peerUrls.join(',')))
  const held = starting.move()
  return { store: etcd.store, [Symbol.asyncDispose]: () => held.disposeAsync() }
}

const notAlone = (others: readonly string[]): Error =>
  new Error(
    `--store sqlite: other servers are members of etcd (${others.join(', ')}); remove each with "coxswain reset" on its machine, or with "coxswain member remove <name>" while this server runs`,
  )

/** Servers that use an etcd of others have their addresses there, until they stop. */
async function checkAlone(store: Store, { host }: ServerUse, signal: AbortSignal): Promise<void> {
  const { items } = await store.range({ start: masterLeasesPrefix, end: prefixEnd(masterLeasesPrefix) }, signal)
  const others = items.map(({ key }) => key.slice(masterLeasesPrefix.length)).filter((address) => address !== host)
  if (others.length > 0)
    throw new Error(`--store sqlite: other servers use the etcd of this one (${others.join(', ')}); stop them first`)
}

// server: runs the control plane of this machine, one of several: the API server, the controllers and the scheduler, and the
// member of etcd beside them. The first machine begins a cluster, further ones get its authorities with a token.
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { parseIp, type IpAddress } from '../../base/net/ip-address.ts'
import { errorText } from '../../base/observability/log.ts'
import { systemRandom } from '../../base/random/random.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { realClock } from '../../base/time/clock.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import type { ServerBundle } from '../bootstrap/server-bundle.ts'
import { isWildcard } from '../certificates/serving-hosts.ts'
import { fetchServerBundle } from './join-servers.ts'
import type { JoinToken } from '../client/join-token-text.ts'
import type { Marker, MemberUse, ServerUse } from '../data-directory/directory-marker.ts'
import { movedRevision, moveToEtcd } from '../data-directory/move-store.ts'
import { openDataDirectory, type DataDirectory } from '../data-directory/open-directory.ts'
import type { EtcdChoice } from '../data-directory/open-store.ts'
import { etcdPathsOf, writeServerFiles } from '../data-directory/server-files.ts'
import { findEtcd } from '../etcd/etcd-executable.ts'
import { clientUrlOf } from '../etcd/etcd-member.ts'
import { addressTowards, peerOf } from './local-addresses.ts'
import { startManagedEtcd } from './managed-etcd.ts'
import { checkSettings, sharedSettings } from './shared-settings.ts'
import { up, type Running } from './up.ts'
import type { UpOptions } from './up-options.ts'

/** How a machine without a control plane gets one. */
export type ServerStart =
  | { readonly kind: 'init' }
  | { readonly kind: 'join'; readonly server: string; readonly token: JoinToken }

export interface ServerOptions extends Omit<UpOptions, 'directory' | 'host' | 'nodes' | 'containers' | 'store'> {
  /** Without effect on a machine that is a server already. */
  readonly start: ServerStart | undefined
  /** The address at which others reach this machine. By default the one towards the server that it joined. */
  readonly host: string | undefined
  /** An etcd that is run by others. By default a member runs beside this server. */
  readonly store: EtcdChoice | undefined
}

const memberNameBytes = 4

/** The signal ends the start, which may wait for other machines. */
export async function server(options: ServerOptions, signal: AbortSignal): Promise<Running> {
  const { dataDirectory, log, start } = options
  const cleanUps = new AsyncDisposableStack()
  try {
    const directory = cleanUps.use(await openDataDirectory(dataDirectory, 'cluster'))
    if (directory.marker.moving !== undefined)
      throw new Error(`the move of ${dataDirectory} to SQLite was interrupted; continue it: coxswain up --store sqlite`)
    if (directory.marker.server === undefined) await begin(directory, options, signal)
    else if (start?.kind === 'join') log.info('this machine is a server already; --join and --token have no effect')
    const use = serverOf(directory.marker)
    const settings = { ...use.settings, ...sharedSettings(options) }
    const host = hostOf(options, use)
    await directory.note({ server: { ...use, settings, host } })
    const etcd = use.member && cleanUps.use(await startMember(directory, use.member, options, signal))
    const store = etcd?.store ?? externalStore(directory, options)
    await moveToEtcd(dataDirectory, store, (what) => options.onProgress?.(what), signal)
    const running = cleanUps.use(
      await up({
        ...options,
        directory,
        host,
        store,
        nodes: 0,
      }),
    )
    const onFailure = (task: string, error: unknown) => log.error('a task failed', { task, error: errorText(error) })
    const tasks = cleanUps.use(new TaskGroup({ onFailure }))
    if (etcd !== undefined) tasks.start('members of etcd', (stop) => etcd.maintain(stop))
    const { url, kubeconfig } = running
    return { url, kubeconfig, [Symbol.asyncDispose]: () => cleanUps.disposeAsync() }
  } catch (error) {
    await cleanUps.disposeAsync()
    throw error
  }
}

/** Records what this machine becomes, after everything that a later start needs was written. */
async function begin(directory: DataDirectory, options: ServerOptions, signal: AbortSignal): Promise<void> {
  const { path, marker } = directory
  const { start } = options
  if (start === undefined)
    throw new Error(
      `there is no server in ${path}; begin a control plane with --init, or join one with --join https://<server>:6443 --token <token>`,
    )
  // The first server may continue the cluster of "coxswain up": its objects are moved to etcd.
  if (marker.isComplete === true && (start.kind === 'join' || !existsSync(`${path}/store.db`)))
    throw new Error(
      `${path} has the cluster of "coxswain up"; choose another --data-dir, or give that cluster up: coxswain reset --data-dir ${path} --yes`,
    )
  const use =
    start.kind === 'init' ? firstServer(marker, options) : await joinServers(directory, start, options, signal)
  await directory.note({ server: use })
}

function firstServer(marker: Marker, options: ServerOptions): ServerUse {
  const { host, store } = options
  if (host === undefined)
    throw new Error('--bind is missing: the address at which the other servers and the nodes reach this machine')
  const settings = { ...marker.settings, ...sharedSettings(options) }
  return store === undefined ? { settings, host, member: newMember(memberAddress(host), []) } : { settings, host }
}

async function joinServers(
  directory: DataDirectory,
  { server: joined, token }: Extract<ServerStart, { kind: 'join' }>,
  options: ServerOptions,
  signal: AbortSignal,
): Promise<ServerUse> {
  const bundle = await fetchServerBundle(joined, token, signal)
  const { settings, store } = bundle
  checkSettings(sharedSettings(options), settings)
  const host = options.host ?? (await addressTowards([peerOf(joined)], '--bind', signal))
  if (options.store !== undefined && store.kind === 'managed')
    throw new Error('--store: the other servers of the cluster run their own etcd; omit the flag')
  const member = store.kind === 'managed' ? { member: newMember(memberAddress(host), store.endpoints) } : {}
  await writeServerFiles(directory.path, bundle)
  if (store.kind === 'external') await noteExternal(directory, bundle, options.store)
  return { settings, host, ...member }
}

function noteExternal(directory: DataDirectory, bundle: ServerBundle, given: EtcdChoice | undefined): Promise<void> {
  const { endpoints, tlsPaths } = given ?? {
    endpoints: bundle.store.endpoints,
    tlsPaths: etcdPathsOf(directory.path, bundle),
  }
  return directory.note({ etcd: { endpoints, tlsPaths, wasEmpty: false } })
}

function newMember(address: IpAddress, others: readonly string[]): MemberUse {
  const machine =
    hostname()
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replace(/^-/, '') || 'server'
  const name = `${machine}-${systemRandom.bytes(memberNameBytes).toHex()}`
  return { name, address, endpoints: [clientUrlOf(address), ...others] }
}

function memberAddress(host: string): IpAddress {
  const address = parseIp(host)
  if (address === undefined || isWildcard(host))
    throw new Error(
      `--bind ${host} is not the address of a machine; name the one at which the other servers and the nodes reach this machine`,
    )
  return address
}

function serverOf({ server: found }: Marker): ServerUse {
  if (found === undefined) throw new Error('this machine is no server')
  return found
}

/** The other members know this one by its address. */
function hostOf({ host }: ServerOptions, { host: before, member }: ServerUse): string {
  if (host === undefined || host === before) return before
  if (member === undefined) return host
  throw new Error(
    `--bind ${host}: the member of etcd of this machine has the address ${member.address}; to change it, remove the server (coxswain reset) and join again`,
  )
}

async function startMember(
  directory: DataDirectory,
  member: MemberUse,
  { log, onProgress }: ServerOptions,
  signal: AbortSignal,
) {
  const { processes, files } = nodePlatform
  const executable = await findEtcd(processes, signal)
  onProgress?.(`starting etcd ${executable.version}, waiting for its other members`)
  const deps = { processes, files, clock: realClock, random: systemRandom, log, platform: nodePlatform }
  const revision = movedRevision(directory.path)
  return startManagedEtcd({ directory, member, executable, revision }, deps, signal)
}

function externalStore({ marker: { etcd } }: DataDirectory, { store }: ServerOptions): EtcdChoice {
  if (store !== undefined) return store
  if (etcd === undefined) throw new Error('--store is missing: the etcd of this control plane')
  return { kind: 'etcd', endpoints: etcd.endpoints, tlsPaths: etcd.tlsPaths }
}

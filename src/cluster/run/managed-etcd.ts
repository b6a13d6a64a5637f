// startManagedEtcd: runs the member of etcd of this machine. The first server begins a cluster of etcd; others join it.
import { existsSync } from 'node:fs'
import { errorText } from '../../base/observability/log.ts'
import { mustParseIp } from '../../base/net/ip-address.ts'
import type { Random } from '../../base/random/random.ts'
import type { Platform } from '../../platform/platform.ts'
import type { EtcdAdmin } from '../../store/etcd/etcd-admin.ts'
import { memberAdmin } from '../data-directory/member-admin.ts'
import type { MemberUse } from '../data-directory/directory-marker.ts'
import type { DataDirectory } from '../data-directory/open-directory.ts'
import { openStore, type EtcdChoice } from '../data-directory/open-store.ts'
import { etcdCertificates, etcdClientPaths } from '../etcd/etcd-certificates.ts'
import type { EtcdExecutable } from '../etcd/etcd-executable.ts'
import { addMember, promoteMember, removedText, type OwnMember } from '../etcd/etcd-join.ts'
import { clientUrlOf, dataPath, EtcdMember, peerUrlOf, type EtcdMemberDeps } from '../etcd/etcd-member.ts'
import { parseMemberName, type InitialCluster } from '../etcd/initial-cluster.ts'
import { bumpRevision, prepareBump } from './bump-revision.ts'

export interface ManagedEtcdOptions {
  readonly directory: DataDirectory
  /** The member of this machine, and those that are known already. */
  readonly member: MemberUse
  readonly executable: EtcdExecutable
  /** The revision of a store that is moved to etcd. */
  readonly revision?: number | undefined
}

export interface ManagedEtcdDeps extends EtcdMemberDeps {
  readonly platform: Platform
  readonly random: Random
}

export interface ManagedEtcd extends AsyncDisposable {
  readonly store: EtcdChoice
  /** Records where the other members are and renews certificates, until the signal is aborted. */
  maintain(signal: AbortSignal): Promise<void>
}

const pollMs = 100
const reportMs = 10_000
const maintenanceMs = 30_000
/** A member that exits so often without having served will not serve. */
const exitsMax = 3

/** Resolves when the member votes and knows the leader: after a failure of all machines, when most of them are back. */
export async function startManagedEtcd(
  { directory, member, executable, revision }: ManagedEtcdOptions,
  deps: ManagedEtcdDeps,
  signal: AbortSignal,
): Promise<ManagedEtcd> {
  const { clock, random, platform, log } = deps
  const pki = `${directory.path}/pki`
  const address = mustParseIp(member.address)
  const own: OwnMember = { name: parseMemberName(member.name), peerUrl: peerUrlOf(address) }
  const ownUrl = clientUrlOf(address)
  const issue = () =>
    etcdCertificates(
      pki,
      { address, name: own.name },
      { platform, clock, random, isUnfinished: directory.marker.isComplete !== true },
    )
  await issue()
  const tlsPaths = etcdClientPaths(pki)
  const newAdmin = (endpoints: readonly string[]) => memberAdmin(directory.path, endpoints)
  const others = member.endpoints.filter((endpoint) => endpoint !== ownUrl)
  const etcdDirectory = `${directory.path}/etcd`
  const initial = await initialCluster()
  const memberOptions = { executable, directory: etcdDirectory, pki, name: own.name, address, initial }
  const storeAt = (endpoints: readonly string[]): EtcdChoice => ({ kind: 'etcd', endpoints, tlsPaths, isManaged: true })
  if (revision !== undefined && others.length === 0) await raiseRevision(revision)
  await using cleanUps = new AsyncDisposableStack()
  const started = cleanUps.use(await EtcdMember.start(memberOptions, deps, signal))
  using admin = await newAdmin([...others, ownUrl])
  await whenServing(admin, started)
  await promoteMember(own.peerUrl, { admin, clock, log }, signal)
  await note(admin)
  const held = cleanUps.move()
  return {
    store: storeAt(endpointsOf(directory, member)),
    async maintain(stop) {
      for (;;) {
        await clock.sleep(maintenanceMs, stop)
        try {
          await issue()
          using current = await newAdmin(endpointsOf(directory, member))
          await note(current)
        } catch (error) {
          stop.throwIfAborted()
          log.warn('the members of etcd are not known at the moment', { error: errorText(error) })
        }
      }
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  }

  async function initialCluster(): Promise<InitialCluster> {
    const alone: InitialCluster = { state: 'new', members: [own] }
    if (existsSync(`${dataPath(etcdDirectory)}/member`)) {
      if (others.length > 0) await checkMember()
      return alone
    }
    if (others.length === 0) {
      // A store of SQLite is moved to etcd.
      if (directory.marker.hasStore === true && !existsSync(`${directory.path}/store.db`))
        throw new Error(
          `the data of etcd in ${dataPath(etcdDirectory)} is missing; restore a snapshot (coxswain restore), or give the cluster up (coxswain reset)`,
        )
      return alone
    }
    using known = await newAdmin(others)
    return await addMember(own, { admin: known, clock, log }, signal)
  }

  /** Without an answer of the others the member starts: they may be waiting for it. */
  async function checkMember(): Promise<void> {
    using known = await newAdmin(others)
    const members = await known.members(signal).catch(() => undefined)
    signal.throwIfAborted()
    if (members !== undefined && !members.some(({ peerUrls }) => peerUrls.includes(own.peerUrl)))
      throw new Error(removedText)
  }

  async function raiseRevision(wanted: number): Promise<void> {
    let newest: number | undefined
    {
      await using first = await EtcdMember.start({ ...memberOptions, snapshotCount: 1 }, deps, signal)
      using alone = await newAdmin([ownUrl])
      await whenServing(alone, first)
      await using stores = new AsyncDisposableStack()
      const store = stores.adopt(await openStore(storeAt([ownUrl]), ''), (opened) => opened.close())
      newest = await prepareBump(store, etcdDirectory, wanted, deps, signal)
    }
    if (newest !== undefined) await bumpRevision(etcdDirectory, newest, wanted, log)
  }

  async function whenServing(from: EtcdAdmin, running: EtcdMember): Promise<void> {
    let reportAtMs = clock.monotonicMs() + reportMs
    for (;;) {
      const status = await from.status(ownUrl, signal).catch((error: unknown) => error)
      signal.throwIfAborted()
      if (isStatus(status) && status.leader !== 0n) return
      if (running.exits >= exitsMax) throw new Error(`etcd does not start: ${running.lastLine}`)
      if (clock.monotonicMs() > reportAtMs) {
        reportAtMs = clock.monotonicMs() + reportMs
        const why = isStatus(status) ? 'it has no leader: most of its members must run' : errorText(status)
        log.info('waiting for etcd', { why, lastLine: running.lastLine })
      }
      await clock.sleep(pollMs, signal)
    }
  }

  async function note(from: EtcdAdmin): Promise<void> {
    const members = await from.members(signal)
    const urls = members.flatMap(({ clientUrls }) => clientUrls).filter((url) => url !== ownUrl)
    const { server } = directory.marker
    const endpoints = [ownUrl, ...urls.toSorted()]
    if (server !== undefined) await directory.note({ server: { ...server, member: { ...member, endpoints } } })
  }
}

const isStatus = (value: unknown): value is { readonly leader: bigint } =>
  typeof value === 'object' && value !== null && 'leader' in value

/** The own one first. */
const endpointsOf = ({ marker }: DataDirectory, member: MemberUse): readonly string[] =>
  (marker.server?.member ?? member).endpoints

// The start of a member of etcd beside its server: a process that is simulated, and members that answer over gRPC at
// loopback addresses of this test. Real members are in test/server/.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { mustParseIp } from '../../base/net/ip-address.ts'
import { silentLog } from '../../base/observability/log.ts'
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import type { EtcdMember } from '../../store/etcd/etcd-admin-messages.ts'
import { memberAddMethod, memberListMethod, memberPromoteMethod } from '../../store/etcd/etcd-admin-messages.ts'
import { statusMethod } from '../../store/etcd/etcd-messages.ts'
import type { GrpcMethod } from '../../wire/grpc/grpc-channel.ts'
import { serveGrpc, type ServedMethods } from '../../wire/grpc/grpc-server.harness.ts'
import { encodeProto } from '../../wire/protobuf/encode-proto.ts'
import type { Message, ProtoInput } from '../../wire/protobuf/proto-message.ts'
import { openDataDirectory } from '../data-directory/open-directory.ts'
import { etcdCertificates } from '../etcd/etcd-certificates.ts'
import { clientUrlOf, dataPath, peerUrlOf } from '../etcd/etcd-member.ts'
import { startManagedEtcd } from './managed-etcd.ts'

const { signal } = new AbortController()
/** Only this process uses it, because the ports of etcd are fixed. */
const addressAt = (part: number) =>
  mustParseIp(`127.${part * 64 + ((process.pid >> 16) & 63)}.${(process.pid >> 8) & 255}.${process.pid & 255}`)
const own = addressAt(2)
const other = addressAt(3)
const member = (address: typeof own, id: bigint, isLearner = false, name = `m${id}`): EtcdMember => ({
  id,
  name,
  peerUrls: [peerUrlOf(address)],
  clientUrls: name === '' ? [] : [clientUrlOf(address)],
  isLearner,
})

const unary = <Q extends Message, A extends Message>(
  { path, response }: GrpcMethod<Q, A>,
  answer: () => ProtoInput<A>,
): ServedMethods => ({
  [path]: async (call) => {
    for await (const _ of call.messages);
    call.send(encodeProto(response, answer()))
    call.finish(0)
  },
})

async function machine() {
  const cleanUps = new AsyncDisposableStack()
  const path = await mkdtemp(join(tmpdir(), 'coxswain-member-'))
  cleanUps.defer(() => rm(path, { recursive: true, force: true }))
  const directory = cleanUps.use(await openDataDirectory(join(path, 'data'), 'cluster'))
  const pki = `${directory.path}/pki`
  const issuing = { platform: nodePlatform, clock: realClock, random: systemRandom, isUnfinished: true }
  await etcdCertificates(pki, { address: own, name: 'a' }, issuing)
  const text = (name: string) => readFile(`${pki}/${name}`, 'utf8')
  const cluster = { members: [member(own, 1n)], leader: 0n, calls: [] as string[] }
  const serve = async (host: string) => {
    await rm(`${pki}/etcd/server.crt`)
    await etcdCertificates(pki, { address: host, name: 'a' }, issuing)
    const tls = {
      key: await text('etcd/server.key'),
      cert: await text('etcd/server.crt'),
      ca: await text('etcd/ca.crt'),
    }
    const methods = {
      ...unary(statusMethod, () => ({ leader: cluster.leader })),
      ...unary(memberListMethod, () => ({ members: cluster.members })),
      ...unary(memberAddMethod, () => {
        cluster.calls.push('add')
        const added = member(own, 1n, true, '')
        cluster.members = [...cluster.members, added]
        return { member: added }
      }),
      ...unary(memberPromoteMethod, () => {
        cluster.calls.push('promote')
        cluster.members = cluster.members.map((each) => ({ ...each, isLearner: false }))
        return {}
      }),
    }
    cleanUps.use(await serveGrpc(methods, { host, port: 2379, tls }))
  }
  const started: { args: readonly string[]; end: (code: number) => void; print: (line: string) => void }[] = []
  const processes = {
    run: () => Promise.reject(new Error('not used')),
    signal: () => {},
    start: (_command: string, args: readonly string[], _options: unknown, print: (line: string) => void) => {
      const { promise, resolve } = Promise.withResolvers<number>()
      started.push({ args, end: resolve, print })
      return { pid: 2 ** 30, ended: promise, kill: () => resolve(0) }
    },
  }
  const start = async (endpoints: readonly string[]) => {
    const use = { name: 'a', address: own, endpoints: [clientUrlOf(own), ...endpoints] }
    await directory.note({ server: { host: own, settings: {}, member: use } })
    const deps = { ...issuing, processes, files: nodePlatform.files, log: silentLog }
    return startManagedEtcd({ directory, member: use, executable: { path: 'etcd', version: '3.5.16' } }, deps, signal)
  }
  const flag = (name: string) => started[0]?.args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3)
  return { directory, cluster, serve, start, started, flag, [Symbol.asyncDispose]: () => cleanUps.disposeAsync() }
}

test('the first member begins a cluster, and is ready when it has a leader', async () => {
  await using made = await machine()
  const { cluster, directory } = made
  await made.serve(own)
  const starting = made.start([])
  while (made.started.length === 0) await realClock.sleep(1, signal)
  equal(made.flag('initial-cluster-state'), 'new')
  equal(made.flag('initial-cluster'), `a=${peerUrlOf(own)}`)
  cluster.leader = 1n
  const etcd = await starting
  deepEqual([etcd.store.endpoints, etcd.store.isManaged], [[clientUrlOf(own)], true])
  deepEqual(directory.marker.server?.member?.endpoints, [clientUrlOf(own)])
  await etcd[Symbol.asyncDispose]()
})

test('a machine that joins is added, started with the others and promoted', async () => {
  await using made = await machine()
  const { cluster } = made
  cluster.members = [member(other, 2n)]
  cluster.leader = 2n
  await made.serve(other)
  await made.serve(own)
  await using etcd = await made.start([clientUrlOf(other)])
  deepEqual(cluster.calls, ['add', 'promote'])
  equal(made.flag('initial-cluster-state'), 'existing')
  equal(made.flag('initial-cluster'), `m2=${peerUrlOf(other)},a=${peerUrlOf(own)}`)
  equal(etcd.store.endpoints[0], clientUrlOf(own))
  equal(etcd.store.endpoints.includes(clientUrlOf(other)), true)
})

test('a machine with data that was removed does not start', async () => {
  await using made = await machine()
  made.cluster.members = [member(other, 2n)]
  await made.serve(other)
  await mkdir(`${dataPath(`${made.directory.path}/etcd`)}/member`, { recursive: true, mode: 0o700 })
  await rejects(made.start([clientUrlOf(other)]), /was removed from the cluster; to join again: coxswain reset/)
  equal(made.started.length, 0)
})

test('an only member does not begin again when its data is missing', async () => {
  await using made = await machine()
  await made.directory.note({ hasStore: true })
  await rejects(made.start([]), /the data of etcd in .*\/etcd\/data is missing; restore a snapshot/)
  equal(made.started.length, 0)
})

test('a member that exits again and again is reported with its last line', async () => {
  await using made = await machine()
  const starting = made.start([])
  const failed = rejects(starting, /^Error: etcd does not start: listen: address already in use$/)
  for (let exits = 0; exits < 3; exits++) {
    while (made.started.length === exits) await realClock.sleep(1, signal)
    made.started[exits]?.print('{"msg":"listen","error":"address already in use"}')
    made.started[exits]?.end(1)
  }
  await failed
})

// A machine without data leaves etcd: the other members are simulated. Members with data are in test/server/.
import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { mustParseIp } from '../../base/net/ip-address.ts'
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { memberListMethod, memberRemoveMethod, type EtcdMember } from '../../store/etcd/etcd-admin-messages.ts'
import { serveGrpc } from '../../wire/grpc/grpc-server.harness.ts'
import { decodeProto } from '../../wire/protobuf/decode-proto.ts'
import { encodeProto } from '../../wire/protobuf/encode-proto.ts'
import { etcdCertificates } from '../etcd/etcd-certificates.ts'
import { clientUrlOf, peerUrlOf } from '../etcd/etcd-member.ts'
import { leaveMembers } from './leave-members.ts'

const { signal } = new AbortController()
const directory = await mkdtemp(join(tmpdir(), 'coxswain-leave-'))
after(() => rm(directory, { recursive: true, force: true }))
const address = mustParseIp('192.0.2.1')
const member = (id: bigint, name: string, peerUrl: string): EtcdMember => ({
  id,
  name,
  peerUrls: [peerUrl],
  clientUrls: [],
  isLearner: false,
})
const own = member(1n, 'a', peerUrlOf(address))
const other = member(2n, 'b', 'https://192.0.2.2:2380')

test('a machine leaves, and says when it was the last or could not', async () => {
  const issuing = { platform: nodePlatform, clock: realClock, random: systemRandom, isUnfinished: true }
  await etcdCertificates(`${directory}/pki`, { address: '127.0.0.1', name: 'b' }, issuing)
  const text = (name: string) => readFile(`${directory}/pki/etcd/${name}`, 'utf8')
  let members = [own, other]
  const removed: bigint[] = []
  const tls = { key: await text('server.key'), cert: await text('server.crt'), ca: await text('ca.crt') }
  await using server = await serveGrpc(
    {
      [memberListMethod.path]: async (call) => {
        for await (const _ of call.messages);
        call.send(encodeProto(memberListMethod.response, { members }))
        call.finish(0)
      },
      [memberRemoveMethod.path]: async (call) => {
        for await (const message of call.messages) removed.push(decodeProto(memberRemoveMethod.request, message).id)
        members = members.filter(({ id }) => !removed.includes(id))
        call.send(encodeProto(memberRemoveMethod.response, {}))
        call.finish(0)
      },
    },
    { tls },
  )
  const use = { name: 'a', address, endpoints: [clientUrlOf(address), server.endpoint] }
  deepEqual(await leaveMembers(directory, use, signal), { kind: 'left', name: 'a' })
  deepEqual(removed, [1n])
  // It was removed before.
  deepEqual(await leaveMembers(directory, use, signal), { kind: 'left', name: 'a' })
  members = [own]
  deepEqual(await leaveMembers(directory, use, signal), { kind: 'last', name: 'a' })
  const alone = { ...use, endpoints: [clientUrlOf(address)] }
  deepEqual(await leaveMembers(directory, alone, signal), { kind: 'last', name: 'a' })
  const outcome = await leaveMembers(`${directory}/missing`, use, signal)
  equal(outcome.kind, 'kept')
  match(outcome.kind === 'kept' ? outcome.why : '', /there is no file .*\/missing\/pki/)
})

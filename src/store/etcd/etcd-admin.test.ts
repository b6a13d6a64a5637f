// EtcdAdmin and the synchronisation of endpoints, with members that are simulated at the level of gRPC. Real members are
// in test/server/.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { realClock } from '../../base/time/clock.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { nodeHttp2 } from '../../platform/node/http/http2-client.ts'
import { decodeProto } from '../../wire/protobuf/decode-proto.ts'
import { encodeProto } from '../../wire/protobuf/encode-proto.ts'
import type { Message, ProtoInput } from '../../wire/protobuf/proto-message.ts'
import type { GrpcMethod } from '../../wire/grpc/grpc-channel.ts'
import { serveGrpc, type ServedMethods } from '../../wire/grpc/grpc-server.harness.ts'
import { EtcdAdmin } from './etcd-admin.ts'
import {
  alarmMethod,
  defragmentMethod,
  memberAddMethod,
  memberListMethod,
  memberPromoteMethod,
  memberRemoveMethod,
} from './etcd-admin-messages.ts'
import { EtcdMembers } from './etcd-members.ts'
import { rangeMethod, statusMethod } from './etcd-messages.ts'

const { signal } = new AbortController()
const deps = { http2: nodeHttp2, clock: realClock }

/** A method that records its requests as JSON. */
function answered<Q extends Message, A extends Message>(
  { path, request, response }: GrpcMethod<Q, A>,
  respond: () => ProtoInput<A> | string,
  requests: string[],
): ServedMethods {
  return {
    [path]: async (call) => {
      for await (const message of call.messages) {
        const text = JSON.stringify(decodeProto(request, message), (_, value: unknown) =>
          typeof value === 'bigint' ? String(value) : value,
        )
        requests.push(`${path.split('/').at(-1)} ${text}`)
      }
      const answer = respond()
      if (typeof answer === 'string') return call.finish(14, answer)
      call.send(encodeProto(response, answer))
      call.finish(0)
    },
  }
}

const started = (id: bigint, clientUrl: string, isLearner = false) => ({
  id,
  name: `m${id}`,
  peerUrls: [],
  clientUrls: clientUrl === '' ? [] : [clientUrl],
  isLearner,
})

test('each call of the administration reaches a member with its arguments', async () => {
  const requests: string[] = []
  const added = { ...started(7n, '', true), name: '', peerUrls: ['https://10.0.0.7:2380'] }
  const alarm = { memberId: 7n, alarm: 'NOSPACE' as const }
  await using server = await serveGrpc({
    ...answered(memberListMethod, () => ({ members: [started(1n, 'https://10.0.0.1:2379')] }), requests),
    ...answered(memberAddMethod, () => ({ member: added }), requests),
    ...answered(memberPromoteMethod, () => ({}), requests),
    ...answered(memberRemoveMethod, () => ({}), requests),
    ...answered(alarmMethod, () => ({ alarms: [alarm] }), requests),
    ...answered(defragmentMethod, () => ({}), requests),
    ...answered(statusMethod, () => ({ dbSize: 4096, dbSizeInUse: 1024, isLearner: true, errors: ['x'] }), requests),
  })
  using admin = new EtcdAdmin({ ...deps, endpoints: [server.endpoint] })
  deepEqual(await admin.members(signal), [started(1n, 'https://10.0.0.1:2379')])
  deepEqual(await admin.addLearner('https://10.0.0.7:2380', signal), added)
  await admin.promote(7n, signal)
  await admin.remove(18_446_744_073_709_551_615n, signal)
  deepEqual(await admin.alarms(signal), [alarm])
  await admin.clearAlarm(alarm, signal)
  await admin.defragment(server.endpoint, signal)
  const { dbSize, dbSizeInUse, isLearner, errors } = await admin.status(server.endpoint, signal)
  deepEqual([dbSize, dbSizeInUse, isLearner, errors], [4096, 1024, true, ['x']])
  deepEqual(requests, [
    'MemberList {"linearizable":true}',
    'MemberAdd {"peerUrls":["https://10.0.0.7:2380"],"isLearner":true}',
    'MemberPromote {"id":"7"}',
    'MemberRemove {"id":"18446744073709551615"}',
    'Alarm {"action":"GET","memberId":"0","alarm":"NONE"}',
    'Alarm {"action":"DEACTIVATE","memberId":"7","alarm":"NOSPACE"}',
    'Defragment {}',
    'Status {}',
  ])
})

test('the next member is asked when one cannot answer, and the last error is reported when none can', async () => {
  const requests: string[] = []
  let answer: string | object = { members: [] }
  await using learner = await serveGrpc(
    answered(memberListMethod, () => 'etcdserver: rpc not supported for learner', requests),
  )
  await using voter = await serveGrpc(answered(memberListMethod, () => answer, requests))
  using admin = new EtcdAdmin({ ...deps, endpoints: [learner.endpoint, voter.endpoint] })
  deepEqual(await admin.members(signal), [])
  answer = 'etcdserver: no leader'
  await rejects(admin.members(signal), /etcd has no leader: 127.0.0.1:\d+ and 127.0.0.1:\d+ cannot elect one/)
  equal(requests.length, 4)
})

test('an answer that is final is not asked for again', async () => {
  await using first = await serveGrpc({
    [memberPromoteMethod.path]: (call) => call.finish(9, 'can only promote a learner member which is in sync'),
  })
  await using second = await serveGrpc({})
  using admin = new EtcdAdmin({ ...deps, endpoints: [first.endpoint, second.endpoint] })
  await rejects(admin.promote(1n, signal), /FAILED_PRECONDITION: can only promote/)
  equal(second.connections, 0)
})

test('the endpoints follow the voting members', async () => {
  const clock = new VirtualClock()
  const requests: string[] = []
  let members: ReturnType<typeof started>[] = []
  const list = answered(memberListMethod, () => ({ members }), requests)
  await using first = await serveGrpc(list)
  await using second = await serveGrpc({ ...list, ...answered(rangeMethod, () => ({ count: 2 }), requests) })
  const calls = new EtcdMembers({ http2: nodeHttp2, clock, endpoints: [first.endpoint], syncMs: 30_000 })
  const synced = async () => {
    const before = requests.length
    await clock.advance(30_000)
    while (requests.length === before) await realClock.sleep(1, signal)
    // The answer arrives after the request was recorded.
    await realClock.sleep(0, signal)
  }
  const until = async (expected: readonly string[]) => {
    while (JSON.stringify(calls.endpoints) !== JSON.stringify(expected)) await realClock.sleep(1, signal)
  }
  // A member that has not started, and a learner, are not used.
  members = [started(1n, first.endpoint), started(2n, ''), started(3n, second.endpoint, true)]
  await synced()
  deepEqual(calls.endpoints, [first.endpoint])
  members = [started(3n, second.endpoint), started(1n, first.endpoint)]
  await synced()
  await until([first.endpoint, second.endpoint])
  members = [started(3n, second.endpoint)]
  await synced()
  await until([second.endpoint])
  equal((await calls.read(rangeMethod, { key: 'a' }, signal)).count, 2)
  members = []
  await synced()
  deepEqual(calls.endpoints, [second.endpoint])
  calls.close(new Error('closed'))
})

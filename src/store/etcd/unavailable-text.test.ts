// Why no member of etcd has executed a call.
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { GrpcError, type GrpcCode } from '../../wire/grpc/grpc-status.ts'
import { unavailableText, type EndpointFailure } from './unavailable-text.ts'

const failure = (host: string, code: GrpcCode, details: string, cause?: unknown): EndpointFailure => ({
  host,
  error: new GrpcError(
    `/etcdserverpb.Cluster/MemberList at https://${host}`,
    code,
    details,
    cause !== undefined,
    cause,
  ),
})
const refused = (host: string) =>
  failure(host, 'UNAVAILABLE', 'the connection failed', new Error(`connect ECONNREFUSED ${host}`))
const alone = (host: string) => failure(host, 'UNAVAILABLE', 'etcdserver: request timed out')
const waited = failure('f:2379', 'DEADLINE_EXCEEDED', 'context deadline exceeded')
const late = failure('c:2379', 'DEADLINE_EXCEEDED', 'no response within 10 s')

const cases: readonly (readonly [what: string, failures: readonly EndpointFailure[], text: string])[] = [
  [
    'one member of three runs',
    [refused('a:2379'), alone('b:2379'), late],
    'etcd has no quorum: of 3 known members, only b:2379 responds',
  ],
  [
    'two members of five run',
    [alone('a:2379'), alone('b:2379'), refused('d:2379'), refused('e:2379'), late],
    'etcd has no quorum: of 5 known members, only a:2379 and b:2379 respond',
  ],
  ['a member has waited', [waited, refused('a:2379')], 'etcd has no quorum: of 2 known members, only f:2379 responds'],
  ['all run apart', [alone('a:2379'), alone('b:2379')], 'etcd has no leader: a:2379 and b:2379 cannot elect one'],
  [
    'none runs',
    [refused('a:2379'), late],
    'no member of etcd responds: a:2379 (connection refused), c:2379 (no response within 10 s)',
  ],
  [
    'a long reason',
    [failure('a:2379', 'INTERNAL', 'x'.repeat(500))],
    `no member of etcd responds: a:2379 (${'x'.repeat(119)}…)`,
  ],
]

for (const [what, failures, text] of cases)
  test(`etcd is unavailable: ${what}`, () => equal(unavailableText(failures), text))

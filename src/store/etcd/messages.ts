// The part of etcd's v3 API that the driver uses, in the order and with the numbers of its published messages.
// Keys are text here: those of Kubernetes are, and on the wire text and bytes are the same.
import { grpcMethod } from '../../wire/grpc/channel.ts'
import { enumeration, one, optional, protoMessage, repeated, type Proto } from '../../wire/protobuf/message.ts'

const header = protoMessage('ResponseHeader', { revision: one(3, 'int64'), raftTerm: one(4, 'uint64') })
/** Beside the revision, which cluster and member answered. */
const fullHeader = protoMessage('ResponseHeader', {
  clusterId: one(1, 'uint64Big'),
  memberId: one(2, 'uint64Big'),
  revision: one(3, 'int64'),
  raftTerm: one(4, 'uint64'),
})

/** What every answer begins with. */
export interface Answered {
  readonly header: { readonly revision: number; readonly raftTerm: number } | undefined
}

export const keyValue = protoMessage('mvccpb.KeyValue', {
  key: one(1, 'string'),
  createRevision: one(2, 'int64'),
  modRevision: one(3, 'int64'),
  version: one(4, 'int64'),
  value: one(5, 'bytes'),
})
export type EtcdKeyValue = Proto<typeof keyValue>

const event = protoMessage('mvccpb.Event', {
  type: one(1, enumeration('PUT', 'DELETE')),
  kv: one(2, keyValue),
  prevKv: one(3, keyValue),
})
export type EtcdEvent = Proto<typeof event>

const rangeRequest = protoMessage('RangeRequest', {
  key: one(1, 'string'),
  rangeEnd: one(2, 'string'),
  limit: one(3, 'int64'),
  revision: one(4, 'int64'),
  keysOnly: one(8, 'bool'),
  countOnly: one(9, 'bool'),
})
const rangeResponse = protoMessage('RangeResponse', {
  header: one(1, header),
  kvs: repeated(2, keyValue),
  more: one(3, 'bool'),
  count: one(4, 'int64'),
})

const putRequest = protoMessage('PutRequest', { key: one(1, 'string'), value: one(2, 'bytes'), lease: one(3, 'int64') })
const deleteRangeRequest = protoMessage('DeleteRangeRequest', { key: one(1, 'string') })
const requestOp = protoMessage('RequestOp', {
  requestRange: optional(1, rangeRequest),
  requestPut: optional(2, putRequest),
  requestDeleteRange: optional(3, deleteRangeRequest),
})
const responseOp = protoMessage('ResponseOp', { responseRange: optional(1, rangeResponse) })
const compare = protoMessage('Compare', {
  result: one(1, enumeration('EQUAL', 'GREATER', 'LESS', 'NOT_EQUAL')),
  target: one(2, enumeration('VERSION', 'CREATE', 'MOD', 'VALUE', 'LEASE')),
  key: one(3, 'string'),
  version: optional(4, 'int64'),
  modRevision: optional(6, 'int64'),
})
const txnRequest = protoMessage('TxnRequest', {
  compare: repeated(1, compare),
  success: repeated(2, requestOp),
  failure: repeated(3, requestOp),
})
const txnResponse = protoMessage('TxnResponse', {
  header: one(1, header),
  succeeded: one(2, 'bool'),
  responses: repeated(3, responseOp),
})

const compactionRequest = protoMessage('CompactionRequest', { revision: one(1, 'int64') })
const compactionResponse = protoMessage('CompactionResponse', { header: one(1, header) })

const watchRequest = protoMessage('WatchRequest', {
  createRequest: optional(
    1,
    protoMessage('WatchCreateRequest', {
      key: one(1, 'string'),
      rangeEnd: one(2, 'string'),
      startRevision: one(3, 'int64'),
      progressNotify: one(4, 'bool'),
      prevKv: one(6, 'bool'),
      watchId: one(7, 'int64'),
      fragment: one(8, 'bool'),
    }),
  ),
  cancelRequest: optional(2, protoMessage('WatchCancelRequest', { watchId: one(1, 'int64') })),
  progressRequest: optional(3, protoMessage('WatchProgressRequest', {})),
})
export const watchResponse = protoMessage('WatchResponse', {
  header: one(1, header),
  watchId: one(2, 'int64'),
  created: one(3, 'bool'),
  canceled: one(4, 'bool'),
  compactRevision: one(5, 'int64'),
  cancelReason: one(6, 'string'),
  fragment: one(7, 'bool'),
  events: repeated(11, event),
})
export type WatchResponse = Proto<typeof watchResponse>

const leaseGrantRequest = protoMessage('LeaseGrantRequest', { ttlSeconds: one(1, 'int64'), id: one(2, 'int64') })
const leaseGrantResponse = protoMessage('LeaseGrantResponse', { header: one(1, header), id: one(2, 'int64') })
const leaseRevokeRequest = protoMessage('LeaseRevokeRequest', { id: one(1, 'int64') })
const leaseRevokeResponse = protoMessage('LeaseRevokeResponse', { header: one(1, header) })

const statusRequest = protoMessage('StatusRequest', {})
const statusResponse = protoMessage('StatusResponse', {
  header: one(1, fullHeader),
  version: one(2, 'string'),
  leader: one(4, 'uint64Big'),
})
const snapshotRequest = protoMessage('SnapshotRequest', {})
const snapshotResponse = protoMessage('SnapshotResponse', { remainingBytes: one(2, 'uint64'), blob: one(3, 'bytes') })

const kv = 'etcdserverpb.KV'
export const rangeMethod = grpcMethod(kv, 'Range', rangeRequest, rangeResponse)
export const txnMethod = grpcMethod(kv, 'Txn', txnRequest, txnResponse)
export const compactMethod = grpcMethod(kv, 'Compact', compactionRequest, compactionResponse)
export const watchMethod = grpcMethod('etcdserverpb.Watch', 'Watch', watchRequest, watchResponse)
export const leaseGrantMethod = grpcMethod('etcdserverpb.Lease', 'LeaseGrant', leaseGrantRequest, leaseGrantResponse)
export const leaseRevokeMethod = grpcMethod(
  'etcdserverpb.Lease',
  'LeaseRevoke',
  leaseRevokeRequest,
  leaseRevokeResponse,
)
export const statusMethod = grpcMethod('etcdserverpb.Maintenance', 'Status', statusRequest, statusResponse)
export const snapshotMethod = grpcMethod('etcdserverpb.Maintenance', 'Snapshot', snapshotRequest, snapshotResponse)

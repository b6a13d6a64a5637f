// The part of etcd's v3 API that the driver uses, with the published field numbers. Keys are text: those of Kubernetes
// are, and on the wire text and bytes are the same.
import { grpcMethod } from '../../wire/grpc/grpc-channel.ts'
import {
  enumeration,
  singular,
  optional,
  protoMessage,
  repeated,
  type Proto,
} from '../../wire/protobuf/proto-message.ts'

const header = protoMessage('ResponseHeader', { revision: singular(3, 'int64'), raftTerm: singular(4, 'uint64') })
/** The header with the ids of the cluster and the member. */
const fullHeader = protoMessage('ResponseHeader', {
  clusterId: singular(1, 'uint64Big'),
  memberId: singular(2, 'uint64Big'),
  revision: singular(3, 'int64'),
  raftTerm: singular(4, 'uint64'),
})

/** The field that every response starts with. */
export interface ResponseWithHeader {
  readonly header: { readonly revision: number; readonly raftTerm: number } | undefined
}

export const keyValue = protoMessage('mvccpb.KeyValue', {
  key: singular(1, 'string'),
  createRevision: singular(2, 'int64'),
  modRevision: singular(3, 'int64'),
  version: singular(4, 'int64'),
  value: singular(5, 'bytes'),
})
export type EtcdKeyValue = Proto<typeof keyValue>

const event = protoMessage('mvccpb.Event', {
  type: singular(1, enumeration('PUT', 'DELETE')),
  kv: singular(2, keyValue),
  prevKv: singular(3, keyValue),
})
export type EtcdEvent = Proto<typeof event>

const rangeRequest = protoMessage('RangeRequest', {
  key: singular(1, 'string'),
  rangeEnd: singular(2, 'string'),
  limit: singular(3, 'int64'),
  revision: singular(4, 'int64'),
  keysOnly: singular(8, 'bool'),
  countOnly: singular(9, 'bool'),
})
const rangeResponse = protoMessage('RangeResponse', {
  header: singular(1, header),
  kvs: repeated(2, keyValue),
  more: singular(3, 'bool'),
  count: singular(4, 'int64'),
})

const putRequest = protoMessage('PutRequest', {
  key: singular(1, 'string'),
  value: singular(2, 'bytes'),
  lease: singular(3, 'int64'),
})
const deleteRangeRequest = protoMessage('DeleteRangeRequest', { key: singular(1, 'string') })
const requestOp = protoMessage('RequestOp', {
  requestRange: optional(1, rangeRequest),
  requestPut: optional(2, putRequest),
  requestDeleteRange: optional(3, deleteRangeRequest),
})
const responseOp = protoMessage('ResponseOp', { responseRange: optional(1, rangeResponse) })
const compare = protoMessage('Compare', {
  result: singular(1, enumeration('EQUAL', 'GREATER', 'LESS', 'NOT_EQUAL')),
  target: singular(2, enumeration('VERSION', 'CREATE', 'MOD', 'VALUE', 'LEASE')),
  key: singular(3, 'string'),
  version: optional(4, 'int64'),
  modRevision: optional(6, 'int64'),
})
const txnRequest = protoMessage('TxnRequest', {
  compare: repeated(1, compare),
  success: repeated(2, requestOp),
  failure: repeated(3, requestOp),
})
const txnResponse = protoMessage('TxnResponse', {
  header: singular(1, header),
  succeeded: singular(2, 'bool'),
  responses: repeated(3, responseOp),
})

const compactionRequest = protoMessage('CompactionRequest', { revision: singular(1, 'int64') })
const compactionResponse = protoMessage('CompactionResponse', { header: singular(1, header) })

const watchRequest = protoMessage('WatchRequest', {
  createRequest: optional(
    1,
    protoMessage('WatchCreateRequest', {
      key: singular(1, 'string'),
      rangeEnd: singular(2, 'string'),
      startRevision: singular(3, 'int64'),
      progressNotify: singular(4, 'bool'),
      prevKv: singular(6, 'bool'),
      watchId: singular(7, 'int64'),
      fragment: singular(8, 'bool'),
    }),
  ),
  cancelRequest: optional(2, protoMessage('WatchCancelRequest', { watchId: singular(1, 'int64') })),
  progressRequest: optional(3, protoMessage('WatchProgressRequest', {})),
})
export const watchResponse = protoMessage('WatchResponse', {
  header: singular(1, header),
  watchId: singular(2, 'int64'),
  created: singular(3, 'bool'),
  canceled: singular(4, 'bool'),
  compactRevision: singular(5, 'int64'),
  cancelReason: singular(6, 'string'),
  fragment: singular(7, 'bool'),
  events: repeated(11, event),
})
export type WatchResponse = Proto<typeof watchResponse>

const leaseGrantRequest = protoMessage('LeaseGrantRequest', {
  ttlSeconds: singular(1, 'int64'),
  id: singular(2, 'int64'),
})
const leaseGrantResponse = protoMessage('LeaseGrantResponse', { header: singular(1, header), id: singular(2, 'int64') })
const leaseRevokeRequest = protoMessage('LeaseRevokeRequest', { id: singular(1, 'int64') })
const leaseRevokeResponse = protoMessage('LeaseRevokeResponse', { header: singular(1, header) })

const statusRequest = protoMessage('StatusRequest', {})
const statusResponse = protoMessage('StatusResponse', {
  header: singular(1, fullHeader),
  version: singular(2, 'string'),
  dbSize: singular(3, 'int64'),
  leader: singular(4, 'uint64Big'),
  /** Alarms, and the absence of a leader (etcd 3.4). */
  errors: repeated(8, 'string'),
  dbSizeInUse: singular(9, 'int64'),
  isLearner: singular(10, 'bool'),
})
export type EtcdStatus = Proto<typeof statusResponse>
const snapshotRequest = protoMessage('SnapshotRequest', {})
const snapshotResponse = protoMessage('SnapshotResponse', {
  remainingBytes: singular(2, 'uint64'),
  blob: singular(3, 'bytes'),
})

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

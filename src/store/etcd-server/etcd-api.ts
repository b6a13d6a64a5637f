// etcd's v3 API as it is served: messages with the published field numbers. Keys are binary text, which compares as bytes
// do. (../etcd/etcd-messages.ts is the part that the driver uses, with the text keys of Kubernetes.)
import { grpcMethod } from '../../wire/grpc/grpc-channel.ts'
import {
  enumeration,
  optional,
  protoMessage,
  repeated,
  singular,
  type Field,
  type Message,
  type Proto,
  type ProtoInput,
} from '../../wire/protobuf/proto-message.ts'

const header = protoMessage('etcdserverpb.ResponseHeader', {
  clusterId: singular(1, 'uint64Big'),
  memberId: singular(2, 'uint64Big'),
  revision: singular(3, 'int64'),
  raftTerm: singular(4, 'uint64'),
})
export type ResponseHeader = ProtoInput<typeof header>

const keyValue = protoMessage('mvccpb.KeyValue', {
  key: singular(1, 'binary'),
  createRevision: singular(2, 'int64'),
  modRevision: singular(3, 'int64'),
  version: singular(4, 'int64'),
  value: singular(5, 'bytes'),
  lease: singular(6, 'int64'),
})
export type WireKeyValue = ProtoInput<typeof keyValue>

const event = protoMessage('mvccpb.Event', {
  type: singular(1, enumeration('PUT', 'DELETE')),
  kv: singular(2, keyValue),
  prevKv: singular(3, keyValue),
})
export type WireEvent = ProtoInput<typeof event>

const rangeRequest = protoMessage('etcdserverpb.RangeRequest', {
  key: singular(1, 'binary'),
  rangeEnd: singular(2, 'binary'),
  limit: singular(3, 'int64'),
  revision: singular(4, 'int64'),
  sortOrder: singular(5, enumeration('NONE', 'ASCEND', 'DESCEND')),
  sortTarget: singular(6, enumeration('KEY', 'VERSION', 'CREATE', 'MOD', 'VALUE')),
  serializable: singular(7, 'bool'),
  keysOnly: singular(8, 'bool'),
  countOnly: singular(9, 'bool'),
  minModRevision: singular(10, 'int64'),
  maxModRevision: singular(11, 'int64'),
  minCreateRevision: singular(12, 'int64'),
  maxCreateRevision: singular(13, 'int64'),
})
export type RangeRequest = Proto<typeof rangeRequest>

const rangeResponse = protoMessage('etcdserverpb.RangeResponse', {
  header: singular(1, header),
  kvs: repeated(2, keyValue),
  more: singular(3, 'bool'),
  count: singular(4, 'int64'),
})
export type RangeResponse = ProtoInput<typeof rangeResponse>

const putRequest = protoMessage('etcdserverpb.PutRequest', {
  key: singular(1, 'binary'),
  value: singular(2, 'bytes'),
  lease: singular(3, 'int64'),
  prevKv: singular(4, 'bool'),
  ignoreValue: singular(5, 'bool'),
  ignoreLease: singular(6, 'bool'),
})
export type PutRequest = Proto<typeof putRequest>
const putResponse = protoMessage('etcdserverpb.PutResponse', {
  header: singular(1, header),
  prevKv: singular(2, keyValue),
})
export type PutResponse = ProtoInput<typeof putResponse>

const deleteRangeRequest = protoMessage('etcdserverpb.DeleteRangeRequest', {
  key: singular(1, 'binary'),
  rangeEnd: singular(2, 'binary'),
  prevKv: singular(3, 'bool'),
})
export type DeleteRangeRequest = Proto<typeof deleteRangeRequest>
const deleteRangeResponse = protoMessage('etcdserverpb.DeleteRangeResponse', {
  header: singular(1, header),
  deleted: singular(2, 'int64'),
  prevKvs: repeated(3, keyValue),
})
export type DeleteRangeResponse = ProtoInput<typeof deleteRangeResponse>

const compare = protoMessage('etcdserverpb.Compare', {
  result: singular(1, enumeration('EQUAL', 'GREATER', 'LESS', 'NOT_EQUAL')),
  target: singular(2, enumeration('VERSION', 'CREATE', 'MOD', 'VALUE', 'LEASE')),
  key: singular(3, 'binary'),
  version: singular(4, 'int64'),
  createRevision: singular(5, 'int64'),
  modRevision: singular(6, 'int64'),
  value: optional(7, 'binary'),
  lease: singular(8, 'int64'),
  rangeEnd: singular(64, 'binary'),
})
export type Compare = Proto<typeof compare>

// Transactions contain transactions: the descriptors refer to each other by getters, and the types are declared.
export interface TxnRequest {
  readonly compare: readonly Compare[]
  readonly success: readonly RequestOp[]
  readonly failure: readonly RequestOp[]
}
export interface RequestOp {
  readonly requestRange: RangeRequest | undefined
  readonly requestPut: PutRequest | undefined
  readonly requestDeleteRange: DeleteRangeRequest | undefined
  readonly requestTxn: TxnRequest | undefined
}
export type TxnResponse = {
  readonly header?: ResponseHeader
  readonly succeeded: boolean
  readonly responses: readonly ResponseOp[]
}
export type ResponseOp = {
  readonly responseRange?: RangeResponse
  readonly responsePut?: PutResponse
  readonly responseDeleteRange?: DeleteRangeResponse
  readonly responseTxn?: TxnResponse
}

const requestOp = protoMessage('etcdserverpb.RequestOp', {
  requestRange: optional(1, rangeRequest),
  requestPut: optional(2, putRequest),
  requestDeleteRange: optional(3, deleteRangeRequest),
  get requestTxn(): Field<Message, 'optional'> {
    return optional(4, txnRequest)
  },
})
const responseOp = protoMessage('etcdserverpb.ResponseOp', {
  responseRange: optional(1, rangeResponse),
  responsePut: optional(2, putResponse),
  responseDeleteRange: optional(3, deleteRangeResponse),
  get responseTxn(): Field<Message, 'optional'> {
    return optional(4, txnResponse)
  },
})
const txnRequest: Message = protoMessage('etcdserverpb.TxnRequest', {
  compare: repeated(1, compare),
  success: repeated(2, requestOp),
  failure: repeated(3, requestOp),
})
const txnResponse: Message = protoMessage('etcdserverpb.TxnResponse', {
  header: singular(1, header),
  succeeded: singular(2, 'bool'),
  responses: repeated(3, responseOp),
})

const compactionRequest = protoMessage('etcdserverpb.CompactionRequest', {
  revision: singular(1, 'int64'),
  physical: singular(2, 'bool'),
})
const compactionResponse = protoMessage('etcdserverpb.CompactionResponse', { header: singular(1, header) })

const watchCreateRequest = protoMessage('etcdserverpb.WatchCreateRequest', {
  key: singular(1, 'binary'),
  rangeEnd: singular(2, 'binary'),
  startRevision: singular(3, 'int64'),
  progressNotify: singular(4, 'bool'),
  filters: repeated(5, enumeration('NOPUT', 'NODELETE')),
  prevKv: singular(6, 'bool'),
  watchId: singular(7, 'int64'),
  fragment: singular(8, 'bool'),
})
export type WatchCreateRequest = Proto<typeof watchCreateRequest>
const watchRequest = protoMessage('etcdserverpb.WatchRequest', {
  createRequest: optional(1, watchCreateRequest),
  cancelRequest: optional(2, protoMessage('etcdserverpb.WatchCancelRequest', { watchId: singular(1, 'int64') })),
  progressRequest: optional(3, protoMessage('etcdserverpb.WatchProgressRequest', {})),
})
export type WatchRequest = Proto<typeof watchRequest>
export const watchResponse = protoMessage('etcdserverpb.WatchResponse', {
  header: singular(1, header),
  watchId: singular(2, 'int64'),
  created: singular(3, 'bool'),
  canceled: singular(4, 'bool'),
  compactRevision: singular(5, 'int64'),
  cancelReason: singular(6, 'string'),
  fragment: singular(7, 'bool'),
  events: repeated(11, event),
})
export type WatchResponse = ProtoInput<typeof watchResponse>

const leaseGrantRequest = protoMessage('etcdserverpb.LeaseGrantRequest', {
  ttlSeconds: singular(1, 'int64'),
  id: singular(2, 'int64'),
})
const leaseGrantResponse = protoMessage('etcdserverpb.LeaseGrantResponse', {
  header: singular(1, header),
  id: singular(2, 'int64'),
  ttlSeconds: singular(3, 'int64'),
})
const leaseIdRequest = protoMessage('etcdserverpb.LeaseRequest', { id: singular(1, 'int64') })
const leaseRevokeResponse = protoMessage('etcdserverpb.LeaseRevokeResponse', { header: singular(1, header) })
const leaseTimeToLiveRequest = protoMessage('etcdserverpb.LeaseTimeToLiveRequest', {
  id: singular(1, 'int64'),
  keys: singular(2, 'bool'),
})
const leaseTimeToLiveResponse = protoMessage('etcdserverpb.LeaseTimeToLiveResponse', {
  header: singular(1, header),
  id: singular(2, 'int64'),
  ttlSeconds: singular(3, 'int64'),
  grantedTtlSeconds: singular(4, 'int64'),
  keys: repeated(5, 'binary'),
})
const noFields = protoMessage('etcdserverpb.Empty', {})
const leaseLeasesResponse = protoMessage('etcdserverpb.LeaseLeasesResponse', {
  header: singular(1, header),
  leases: repeated(2, protoMessage('etcdserverpb.LeaseStatus', { id: singular(1, 'int64') })),
})

const statusResponse = protoMessage('etcdserverpb.StatusResponse', {
  header: singular(1, header),
  version: singular(2, 'string'),
  dbSize: singular(3, 'int64'),
  leader: singular(4, 'uint64Big'),
  raftIndex: singular(5, 'uint64'),
  raftTerm: singular(6, 'uint64'),
  raftAppliedIndex: singular(7, 'uint64'),
  errors: repeated(8, 'string'),
  dbSizeInUse: singular(9, 'int64'),
})
const alarmTypes = enumeration('NONE', 'NOSPACE', 'CORRUPT')
const alarmRequest = protoMessage('etcdserverpb.AlarmRequest', {
  action: singular(1, enumeration('GET', 'ACTIVATE', 'DEACTIVATE')),
  memberId: singular(2, 'uint64Big'),
  alarm: singular(3, alarmTypes),
})
const alarmResponse = protoMessage('etcdserverpb.AlarmResponse', {
  header: singular(1, header),
  alarms: repeated(
    2,
    protoMessage('etcdserverpb.AlarmMember', { memberId: singular(1, 'uint64Big'), alarm: singular(2, alarmTypes) }),
  ),
})
const headerResponse = protoMessage('etcdserverpb.HeaderResponse', { header: singular(1, header) })
const snapshotResponse = protoMessage('etcdserverpb.SnapshotResponse', {
  header: singular(1, header),
  remainingBytes: singular(2, 'uint64'),
  blob: singular(3, 'bytes'),
})
const memberListResponse = protoMessage('etcdserverpb.MemberListResponse', {
  header: singular(1, header),
  members: repeated(
    2,
    protoMessage('etcdserverpb.Member', {
      id: singular(1, 'uint64Big'),
      name: singular(2, 'string'),
      peerUrls: repeated(3, 'string'),
      clientUrls: repeated(4, 'string'),
    }),
  ),
})

const kv = 'etcdserverpb.KV'
export const rangeMethod = grpcMethod(kv, 'Range', rangeRequest, rangeResponse)
export const putMethod = grpcMethod(kv, 'Put', putRequest, putResponse)
export const deleteRangeMethod = grpcMethod(kv, 'DeleteRange', deleteRangeRequest, deleteRangeResponse)
export const txnMethod = grpcMethod(kv, 'Txn', txnRequest, txnResponse)
export const compactMethod = grpcMethod(kv, 'Compact', compactionRequest, compactionResponse)
export const watchMethod = grpcMethod('etcdserverpb.Watch', 'Watch', watchRequest, watchResponse)
const lease = 'etcdserverpb.Lease'
export const leaseGrantMethod = grpcMethod(lease, 'LeaseGrant', leaseGrantRequest, leaseGrantResponse)
export const leaseRevokeMethod = grpcMethod(lease, 'LeaseRevoke', leaseIdRequest, leaseRevokeResponse)
export const leaseKeepAliveMethod = grpcMethod(lease, 'LeaseKeepAlive', leaseIdRequest, leaseGrantResponse)
export const leaseTimeToLiveMethod = grpcMethod(
  lease,
  'LeaseTimeToLive',
  leaseTimeToLiveRequest,
  leaseTimeToLiveResponse,
)
export const leaseLeasesMethod = grpcMethod(lease, 'LeaseLeases', noFields, leaseLeasesResponse)
const maintenance = 'etcdserverpb.Maintenance'
export const statusMethod = grpcMethod(maintenance, 'Status', noFields, statusResponse)
export const alarmMethod = grpcMethod(maintenance, 'Alarm', alarmRequest, alarmResponse)
export const defragmentMethod = grpcMethod(maintenance, 'Defragment', noFields, headerResponse)
export const snapshotMethod = grpcMethod(maintenance, 'Snapshot', noFields, snapshotResponse)
export const memberListMethod = grpcMethod('etcdserverpb.Cluster', 'MemberList', noFields, memberListResponse)

// The part of etcd's v3 API that administrates a cluster: its members, and the maintenance of their files.
import { grpcMethod } from '../../wire/grpc/grpc-channel.ts'
import { enumeration, protoMessage, repeated, singular, type Proto } from '../../wire/protobuf/proto-message.ts'

const header = protoMessage('ResponseHeader', { revision: singular(3, 'int64'), raftTerm: singular(4, 'uint64') })

const member = protoMessage('Member', {
  id: singular(1, 'uint64Big'),
  /** Empty until the member has started. */
  name: singular(2, 'string'),
  peerUrls: repeated(3, 'string'),
  clientUrls: repeated(4, 'string'),
  isLearner: singular(5, 'bool'),
})
export type EtcdMember = Proto<typeof member>

const memberAddRequest = protoMessage('MemberAddRequest', {
  peerUrls: repeated(1, 'string'),
  isLearner: singular(2, 'bool'),
})
const memberAddResponse = protoMessage('MemberAddResponse', {
  header: singular(1, header),
  member: singular(2, member),
  members: repeated(3, member),
})
const memberIdRequest = (name: string) => protoMessage(name, { id: singular(1, 'uint64Big') })
const membersResponse = (name: string) =>
  protoMessage(name, { header: singular(1, header), members: repeated(2, member) })

const alarmTypes = enumeration('NONE', 'NOSPACE', 'CORRUPT')
const alarm = protoMessage('AlarmMember', { memberId: singular(1, 'uint64Big'), alarm: singular(2, alarmTypes) })
export type EtcdAlarm = Proto<typeof alarm>

const alarmRequest = protoMessage('AlarmRequest', {
  action: singular(1, enumeration('GET', 'ACTIVATE', 'DEACTIVATE')),
  memberId: singular(2, 'uint64Big'),
  alarm: singular(3, alarmTypes),
})
const alarmResponse = protoMessage('AlarmResponse', { header: singular(1, header), alarms: repeated(2, alarm) })

const cluster = 'etcdserverpb.Cluster'
export const memberAddMethod = grpcMethod(cluster, 'MemberAdd', memberAddRequest, memberAddResponse)
export const memberRemoveMethod = grpcMethod(
  cluster,
  'MemberRemove',
  memberIdRequest('MemberRemoveRequest'),
  membersResponse('MemberRemoveResponse'),
)
/** The answer of the leader, or of the member itself if it is not asked for a linearizable one (etcd 3.5). */
export const memberListMethod = grpcMethod(
  cluster,
  'MemberList',
  protoMessage('MemberListRequest', { linearizable: singular(1, 'bool') }),
  membersResponse('MemberListResponse'),
)
export const memberPromoteMethod = grpcMethod(
  cluster,
  'MemberPromote',
  memberIdRequest('MemberPromoteRequest'),
  membersResponse('MemberPromoteResponse'),
)

const maintenance = 'etcdserverpb.Maintenance'
export const alarmMethod = grpcMethod(maintenance, 'Alarm', alarmRequest, alarmResponse)
export const defragmentMethod = grpcMethod(
  maintenance,
  'Defragment',
  protoMessage('DefragmentRequest', {}),
  protoMessage('DefragmentResponse', { header: singular(1, header) }),
)

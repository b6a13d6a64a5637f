// ReplicationController: its pods are orphaned unless a deletion says otherwise, as before owner references existed.
import { replicationController, type ReplicationController } from '../../api/core/v1/workload/replication-controller.ts'
import type { Strategy } from '../registry/resource/strategy.ts'

export const replicationControllerStrategy: Strategy<ReplicationController> = {
  kind: replicationController,
  orphansDependents: {},
}

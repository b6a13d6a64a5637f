// ReplicationController: its pods outlive it unless a deletion says otherwise, as they did before there were owners.
import { replicationController, type ReplicationController } from '../../api/core/v1/workload/replication-controller.ts'
import type { Strategy } from '../registry/strategy.ts'

export const replicationControllerStrategy: Strategy<ReplicationController> = {
  kind: replicationController,
  orphansDependents: {},
}

// ReplicationController: its pods outlive it unless a deletion says otherwise, as they did before there were owners.
import { replicationController, type ReplicationController } from '../../../api/core/v1/replication-controller.ts'
import type { Strategy } from '../strategy.ts'

export const replicationControllerStrategy: Strategy<ReplicationController> = {
  kind: replicationController,
  orphansDependents: {},
}

// Every controller, in the order of the alphabet.
import type { Controller } from './controller.ts'
import { cronJobController } from './cron-job/cron-job.ts'
import { daemonSetController } from './daemon-set/daemon-set.ts'
import { deploymentController } from './deployment/deployment.ts'
import { endpointSliceController } from './endpoints/endpoint-slice.ts'
import { endpointSliceMirroringController } from './endpoints/endpoint-slice-mirroring.ts'
import { endpointsController } from './endpoints/endpoints.ts'
import { garbageCollector } from './garbage-collector.ts'
import { jobController } from './job/job.ts'
import { jobOrphansController } from './job-orphans.ts'
import { namespaceController } from './namespace.ts'
import { nodeLifecycleController } from './node-lifecycle/node-lifecycle.ts'
import { replicaSetController } from './replica-set.ts'
import { replicationControllerController } from './replication-controller.ts'
import { serviceAccountController } from './service-account.ts'
import { statefulSetController } from './stateful-set/stateful-set.ts'
import { taintEvictionController } from './taint-eviction.ts'

export const controllers: readonly Controller[] = [
  cronJobController,
  daemonSetController,
  deploymentController,
  endpointSliceController,
  endpointSliceMirroringController,
  endpointsController,
  garbageCollector,
  jobController,
  jobOrphansController,
  namespaceController,
  nodeLifecycleController,
  replicaSetController,
  replicationControllerController,
  serviceAccountController,
  statefulSetController,
  taintEvictionController,
]

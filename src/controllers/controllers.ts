// Every controller, in the order of the alphabet.
import type { Controller } from './controller.ts'
import { deploymentController } from './deployment/deployment.ts'
import { garbageCollector } from './garbage-collector.ts'
import { namespaceController } from './namespace.ts'
import { replicaSetController } from './replica-set.ts'
import { replicationControllerController } from './replication-controller.ts'
import { serviceAccountController } from './service-account.ts'

export const controllers: readonly Controller[] = [
  deploymentController,
  garbageCollector,
  namespaceController,
  replicaSetController,
  replicationControllerController,
  serviceAccountController,
]

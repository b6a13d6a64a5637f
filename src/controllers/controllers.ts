// Every controller, in the order of the alphabet.
import type { Controller } from './runtime/controller.ts'
import { attachDetachController } from './attach-detach/attach-detach.ts'
import { bootstrapSignerController } from './tokens/bootstrap-signer.ts'
import { serviceAccountTokenController } from './tokens/service-account-token.ts'
import { tokenCleanerController } from './tokens/token-cleaner.ts'
import { certificateApprovingController } from './certificates/certificate-approving.ts'
import { certificateCleaningController } from './certificates/certificate-cleaning.ts'
import { certificateSigningController } from './certificates/certificate-signing.ts'
import { clusterRoleAggregationController } from './cluster-role-aggregation.ts'
import { cronJobController } from './cron-job/cron-job.ts'
import { daemonSetController } from './daemon-set/daemon-set.ts'
import { deploymentController } from './deployment/deployment.ts'
import { endpointSliceController } from './endpoints/endpoint-slice.ts'
import { endpointSliceMirroringController } from './endpoints/endpoint-slice-mirroring.ts'
import { endpointsController } from './endpoints/endpoints.ts'
import { ephemeralVolumeController } from './ephemeral-volume.ts'
import { garbageCollector } from './garbage-collector.ts'
import { horizontalPodAutoscalerController } from './horizontal-pod-autoscaler/horizontal-pod-autoscaler.ts'
import { jobController } from './job/job.ts'
import { jobOrphansController } from './job/job-orphans.ts'
import { legacyTokenCleanerController } from './tokens/legacy-token-cleaner.ts'
import { namespaceController } from './namespace.ts'
import { nodeIpamController } from './node-ipam/node-ipam.ts'
import { nodeLifecycleController } from './node-lifecycle/node-lifecycle.ts'
import { persistentVolumeBinder } from './persistent-volume/persistent-volume-binder.ts'
import { podDisruptionBudgetController } from './disruption/pod-disruption-budget.ts'
import { podGarbageCollector } from './pod-garbage-collector.ts'
import { podResourceClaimController } from './resource-claim/pod-resource-claim.ts'
import { claimProtectionController, volumeProtectionController } from './volume-protection/volume-protection.ts'
import { replicaSetController } from './replica-set/replica-set.ts'
import { replicationControllerController } from './replica-set/replication-controller.ts'
import { resourceClaimController } from './resource-claim/resource-claim.ts'
import { resourceQuotaController } from './resource-quota.ts'
import { rootCertificateController } from './root-certificate.ts'
import { serviceAccountController } from './service-account.ts'
import { serviceCidrController } from './service-cidr.ts'
import { staleDisruptionController } from './disruption/stale-disruption.ts'
import { statefulSetController } from './stateful-set/stateful-set.ts'
import { taintEvictionController } from './taint-eviction.ts'
import { ttlAfterFinishedController } from './ttl-after-finished.ts'
import { validatingPolicyStatusController } from './validating-policy-status.ts'
import { volumeExpansionController } from './volume-expansion/volume-expansion.ts'
import { volumeAttributesClassProtectionController } from './volume-protection/volume-attributes-class-protection.ts'

export const controllers: readonly Controller[] = [
  attachDetachController,
  bootstrapSignerController,
  certificateApprovingController,
  certificateCleaningController,
  certificateSigningController,
  clusterRoleAggregationController,
  cronJobController,
  daemonSetController,
  deploymentController,
  endpointSliceController,
  endpointSliceMirroringController,
  endpointsController,
  ephemeralVolumeController,
  garbageCollector,
  horizontalPodAutoscalerController,
  jobController,
  jobOrphansController,
  legacyTokenCleanerController,
  namespaceController,
  nodeIpamController,
  nodeLifecycleController,
  persistentVolumeBinder,
  podDisruptionBudgetController,
  podGarbageCollector,
  podResourceClaimController,
  volumeProtectionController,
  claimProtectionController,
  replicaSetController,
  replicationControllerController,
  resourceClaimController,
  resourceQuotaController,
  rootCertificateController,
  serviceAccountController,
  serviceAccountTokenController,
  serviceCidrController,
  staleDisruptionController,
  statefulSetController,
  taintEvictionController,
  tokenCleanerController,
  ttlAfterFinishedController,
  validatingPolicyStatusController,
  volumeAttributesClassProtectionController,
  volumeExpansionController,
]

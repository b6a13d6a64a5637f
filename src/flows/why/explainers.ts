// The explainers, at most one for a kind.
import { clusterRoleBindingExplainer, roleBindingExplainer } from './access/binding-explainer.ts'
import { serviceAccountExplainer } from './access/service-account-explainer.ts'
import { mutatingWebhookExplainer, validatingWebhookExplainer } from './access/webhook-explainer.ts'
import {
  apiServiceExplainer,
  certificateRequestExplainer,
  definitionExplainer,
  deviceClaimExplainer,
} from './cluster/extension-explainers.ts'
import { namespaceExplainer } from './cluster/namespace-explainer.ts'
import { quotaExplainer } from './cluster/quota-explainer.ts'
import type { Explainer } from './explainer/explainer.ts'
import {
  gatewayExplainer,
  grpcRouteExplainer,
  httpRouteExplainer,
  tlsRouteExplainer,
} from './network/gateway-explainer.ts'
import { ingressExplainer } from './network/ingress-explainer.ts'
import { serviceExplainer } from './network/service-explainer.ts'
import { budgetExplainer } from './nodes/budget-explainer.ts'
import { nodeExplainer } from './nodes/node-explainer.ts'
import { podExplainer } from './pods/pod-explainer.ts'
import { claimExplainer } from './storage/claim-explainer.ts'
import { volumeExplainer } from './storage/volume-explainer.ts'
import { autoscalerExplainer } from './workloads/autoscaler-explainer.ts'
import { cronJobExplainer, jobExplainer } from './workloads/job-explainers.ts'
import {
  daemonSetExplainer,
  deploymentExplainer,
  replicaSetExplainer,
  replicationControllerExplainer,
  statefulSetExplainer,
} from './workloads/replica-explainers.ts'

export const explainers: readonly Explainer[] = [
  apiServiceExplainer,
  autoscalerExplainer,
  budgetExplainer,
  certificateRequestExplainer,
  claimExplainer,
  clusterRoleBindingExplainer,
  cronJobExplainer,
  daemonSetExplainer,
  definitionExplainer,
  deploymentExplainer,
  deviceClaimExplainer,
  gatewayExplainer,
  grpcRouteExplainer,
  httpRouteExplainer,
  ingressExplainer,
  jobExplainer,
  mutatingWebhookExplainer,
  namespaceExplainer,
  nodeExplainer,
  podExplainer,
  quotaExplainer,
  replicaSetExplainer,
  replicationControllerExplainer,
  roleBindingExplainer,
  serviceAccountExplainer,
  serviceExplainer,
  statefulSetExplainer,
  tlsRouteExplainer,
  validatingWebhookExplainer,
  volumeExplainer,
]

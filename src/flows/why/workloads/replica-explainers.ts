// Explains problems of Deployments, ReplicaSets, ReplicationControllers, StatefulSets and DaemonSets: first their own
// conditions, then their pods that are not ready.
import { lookup } from '../../../base/collections/lookup.ts'
import { daemonSet, type DaemonSet } from '../../../api/apps/v1/daemon-set.ts'
import { deployment } from '../../../api/apps/v1/deployment.ts'
import { replicaSet, type ReplicaSet } from '../../../api/apps/v1/replica-set.ts'
import { statefulSet } from '../../../api/apps/v1/stateful-set.ts'
import { node } from '../../../api/core/v1/node/node.ts'
import { replicationController } from '../../../api/core/v1/workload/replication-controller.ts'
import { controllerOf, namespaceOf } from '../../../api/meta/object.ts'
import { because, conditionOf, defineExplainer, plural, unobservedChange } from '../explainer/explainer.ts'
import { problem, warning, type Finding } from '../explainer/finding.ts'
import { kubectl } from '../explainer/fix-command.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'
import { ownerAt } from '../explainer/template-owner.ts'
import { unmatchedLabels } from '../pods/unmatched-labels.ts'
import { ownedBy, whyPodsOf } from './pods-of.ts'
import { whyNotCreated } from './rejected-pods.ts'

export const deploymentExplainer = defineExplainer({
  kind: deployment,
  checked: 'its rollout and its pods',
  async explain(object, cluster) {
    const { spec, status, metadata } = object
    const { replicas } = spec
    const { updatedReplicas = 0, availableReplicas = 0, replicas: present = 0 } = status
    const progressing = conditionOf(status.conditions, 'Progressing')
    const isDone = updatedReplicas === replicas && availableReplicas === replicas && present === replicas
    const sets = (await cluster.list(replicaSet, namespaceOf(object))).filter((set) => ownedBy(object, set))
    const newest = sets.reduce((most, set) => Math.max(most, revisionOf(set)), 0)
    const isCurrent = (set: ReplicaSet) => revisionOf(set) === newest
    const { current = [], earlier = [] } = Object.groupBy(sets, (set) => (isCurrent(set) ? 'current' : 'earlier'))
    return [
      ...unobservedChange(object, status),
      ...(spec.paused
        ? [
            warning('It is paused: changes of its pod template are not rolled out.', {
              fix: kubectl(namespaceOf(object), 'rollout', 'resume', `deployment/${metadata.name}`),
            }),
          ]
        : []),
      ...(progressing?.status === 'False' ? [problem(`Its rollout is not progressing: ${because(progressing)}.`)] : []),
      ...(await whyNotCreated(object, ownerAt('Deployment', metadata.name, namespaceOf(object)), cluster)),
      ...missing(
        isDone,
        `It needs ${plural(replicas, 'pod')}: ${updatedReplicas} up to date, ${availableReplicas} available, ${present} in total.`,
      ),
      ...(await whyPodsOf(current, cluster, earlier)),
    ]
  },
})

const revisionAnnotation = 'deployment.kubernetes.io/revision'

const revisionOf = ({ metadata }: ReplicaSet): number => Number(lookup(metadata.annotations, revisionAnnotation) ?? 0)

const missing = (isComplete: boolean, text: string): Finding[] => (isComplete ? [] : [warning(text)])

const replicaExplainer = <T extends typeof replicaSet | typeof replicationController>(kind: T) =>
  defineExplainer({
    kind: kind as typeof replicaSet,
    checked: 'its pods',
    async explain(object, cluster) {
      const { metadata } = object
      const above = controllerOf(object)
      const { replicas } = object.spec
      const { replicas: present, readyReplicas = 0 } = object.status
      return [
        ...unobservedChange(object, object.status),
        ...(await whyNotCreated(
          object,
          ownerAt(above?.kind ?? kind.kind, (above ?? metadata).name, namespaceOf(object)),
          cluster,
        )),
        ...missing(
          present === replicas && readyReplicas === replicas,
          `It needs ${plural(replicas, 'pod')}: ${readyReplicas} ready, ${present} in total.`,
        ),
        ...(await whyPodsOf([object], cluster)),
      ]
    },
  })

export const replicaSetExplainer = replicaExplainer(replicaSet)
export const replicationControllerExplainer = replicaExplainer(replicationController)

export const statefulSetExplainer = defineExplainer({
  kind: statefulSet,
  checked: 'its revision and its pods',
  async explain(object, cluster) {
    const { spec, status } = object
    const { replicas, podManagementPolicy, updateStrategy } = spec
    const { readyReplicas = 0, updatedReplicas = 0, currentRevision, updateRevision } = status
    const partition = updateStrategy?.rollingUpdate?.partition ?? 0
    const kept = partition > 0 ? `; its partition keeps pods below ordinal ${partition} as they are` : ''
    return [
      ...unobservedChange(object, status),
      ...missing(readyReplicas === replicas, `It needs ${plural(replicas, 'pod')}: ${readyReplicas} ready.`),
      ...missing(
        readyReplicas === replicas || podManagementPolicy === 'Parallel',
        'It creates its pods in order: the next one when the previous one is ready.',
      ),
      ...missing(
        currentRevision === updateRevision,
        `It is being updated: ${updatedReplicas} of ${plural(replicas, 'pod')} are up to date${kept}.`,
      ),
      ...(await whyPodsOf([object], cluster)),
    ]
  },
})

export const daemonSetExplainer = defineExplainer({
  kind: daemonSet,
  checked: 'its pods on each node',
  async explain(object, cluster) {
    const {
      desiredNumberScheduled: wanted,
      numberReady,
      updatedNumberScheduled: updated = 0,
      numberMisscheduled,
    } = object.status
    const misplaced =
      numberMisscheduled === 1
        ? '1 pod runs on a node that it no longer matches.'
        : `${numberMisscheduled} pods run on nodes that it no longer matches.`
    return [
      ...unobservedChange(object, object.status),
      ...missing(wanted > 0, 'No node matches its node selector and tolerations.'),
      ...(wanted > 0 ? [] : await whyNoNode(object, cluster)),
      ...missing(
        numberReady === wanted && updated === wanted,
        `It needs a pod on ${plural(wanted, 'node')}: ${numberReady} ready, ${updated} up to date.`,
      ),
      ...missing(numberMisscheduled === 0, misplaced),
      ...(await whyPodsOf([object], cluster)),
    ]
  },
})

async function whyNoNode({ metadata, spec }: DaemonSet, cluster: ClusterReader): Promise<readonly Finding[]> {
  const nodes = await cluster.list(node, '')
  const owner = ownerAt('DaemonSet', metadata.name, metadata.namespace ?? '')
  return unmatchedLabels(spec.template, nodes, owner).findings
}

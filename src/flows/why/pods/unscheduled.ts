// Why a pod is not scheduled: its gates, its claims, and what each node lacks.
import { node } from '../../../api/core/v1/node/node.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import { persistentVolumeClaim } from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import { namespaceOf } from '../../../api/meta/object.ts'
import { isMissing, type ClusterReader } from '../explainer/cluster-reader.ts'
import { conditionOf } from '../explainer/explainer.ts'
import { problem, together, warning, type Finding } from '../explainer/finding.ts'
import { whyUnbound } from '../storage/claim-explainer.ts'
import { nodeMismatches } from './node-mismatches.ts'

export async function whyUnscheduled(object: Pod, cluster: ClusterReader): Promise<Finding[]> {
  const { schedulerName, schedulingGates = [] } = object.spec
  if (schedulingGates.length > 0)
    return [
      warning(
        `It is not scheduled until its scheduling gates are removed by the controllers that set them: ${schedulingGates.map(({ name }) => name).join(', ')}.`,
      ),
    ]
  const scheduled = conditionOf(object.status.conditions, 'PodScheduled')
  if (scheduled === undefined)
    return [warning(`It is not scheduled yet: the scheduler ${schedulerName} has not processed it.`)]
  const { reason = '', message = '' } = scheduled
  const beginning = problem(
    `It cannot be scheduled: ${[reason, verdict(message)].filter((text) => text !== '').join(': ')}.`,
    {
      covers: ['FailedScheduling'],
    },
  )
  const claims = await claimFindings(object, cluster)
  const mismatches = claims.length > 0 ? [] : await nodeMismatches(object, await cluster.list(node, ''), cluster)
  return [together([beginning, ...claims, ...mismatches])]
}

/** The first sentence of the scheduler. The others report what it tried with preemption and claims. */
const verdict = (message: string): string => message.split(/\.\s/, 1)[0]?.replace(/\.$/, '') ?? ''

async function claimFindings(object: Pod, cluster: ClusterReader): Promise<Finding[]> {
  const home = namespaceOf(object)
  const findings: Finding[] = []
  for (const { persistentVolumeClaim: volume } of object.spec.volumes ?? []) {
    if (volume === undefined) continue
    const { claimName } = volume
    const claim = await cluster.find(persistentVolumeClaim, home, claimName)
    if (claim === undefined && (await isMissing(cluster, persistentVolumeClaim, home, claimName)))
      findings.push(problem(`Its claim ${claimName} does not exist in the namespace ${home}.`))
    const unbound = claim === undefined ? undefined : await whyUnbound(claim, 1, cluster)
    if (unbound !== undefined)
      findings.push({ ...unbound, text: `Its claim ${claimName} is not bound to a volume: ${unbound.text}` })
  }
  return findings
}

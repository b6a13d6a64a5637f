// lastOutput: the end of a container's log, for an explanation.
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import { namespaceOf } from '../../../api/meta/object.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'
import type { Finding } from '../explainer/finding.ts'
import { kubectl } from '../explainer/fix-command.ts'
import { logExcerpt } from '../explainer/log-excerpt.ts'

/** The text that kubelets send in place of a log that is gone. */
const goneLog = /^unable to retrieve container logs for \S+$/

/** Empty where there is none, or where it cannot be read. */
export async function lastOutput(
  object: Pod,
  container: string,
  which: 'current' | 'previous',
  cluster: ClusterReader,
): Promise<Pick<Finding, 'output'>> {
  const log = (await cluster.lastOutput?.(object, container, which)) ?? ''
  const lines = goneLog.test(log) ? [] : logExcerpt(log)
  const flags = which === 'previous' ? ['--previous'] : []
  const command = kubectl(namespaceOf(object), 'logs', object.metadata.name, '-c', container, ...flags)
  return lines.length === 0 ? {} : { output: { lines, command } }
}

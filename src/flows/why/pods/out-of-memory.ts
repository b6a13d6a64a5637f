// Why a container was killed by the kernel: it used more memory than its limit, or the node had none left.
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import type { ContainerStatus } from '../../../api/core/v1/pod/pod-status.ts'
import { namespaceOf } from '../../../api/meta/object.ts'
import { quantityNanos, quantityText } from '../../../schema/scalar/quantity.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'
import { plural } from '../explainer/explainer.ts'
import { problem, withFix, type Finding } from '../explainer/finding.ts'
import { kubectl } from '../explainer/fix-command.ts'
import { templateOwnerOf } from '../explainer/template-owner.ts'

export async function whyOutOfMemory(object: Pod, status: ContainerStatus, cluster: ClusterReader): Promise<Finding> {
  const { name, image, restartCount, state, lastState } = status
  const { finishedAt = 'an unknown time', exitCode = 137 } = (state?.terminated ?? lastState?.terminated) || {}
  const limit = limitOf(object, name)
  const cause =
    limit === undefined
      ? 'it has no memory limit, and its node or its pod ran out of memory'
      : `it used more memory than its limit of ${limit}`
  const times = restartCount === 0 ? '' : ` and was restarted ${plural(restartCount, 'time')}`
  return problem(
    `Container ${name} (${image}) was killed because ${cause} (OOMKilled, code ${exitCode}), last at ${finishedAt}${times}.`,
    {
      covers: ['BackOff'],
      ...withFix(limit === undefined ? undefined : await largerLimit(object, name, limit, cluster)),
    },
  )
}

const limitOf = ({ spec }: Pod, name: string): string | undefined =>
  [...spec.containers, ...(spec.initContainers ?? [])].find((each) => each.name === name)?.resources.limits?.[
    'memory'
  ] ?? spec.resources?.limits?.['memory']

/** Twice the limit. A pod without a workload is resized in place. */
async function largerLimit(
  object: Pod,
  name: string,
  limit: string,
  cluster: ClusterReader,
): Promise<string | undefined> {
  const larger = quantityText((quantityNanos(limit) ?? 0n) * 2n, limit)
  const { kind, target } = await templateOwnerOf(object, cluster)
  const home = namespaceOf(object)
  if (kind === 'Job') return undefined
  if (kind !== 'Pod') return kubectl(home, 'set', 'resources', target, '-c', name, `--limits=memory=${larger}`)
  const containers = object.spec.containers.map((each) =>
    each.name === name ? resized(each.resources.requests, larger, limit, name) : { name: each.name },
  )
  const patch = JSON.stringify({ spec: { containers } })
  return kubectl(home, 'patch', target, '--subresource=resize', '-p', patch)
}

/** The request grows with the limit where both are equal: the class of service of a pod cannot change. */
const resized = (
  requests: Readonly<Record<string, string>> | undefined,
  larger: string,
  limit: string,
  name: string,
): object => ({
  name,
  resources: {
    limits: { memory: larger },
    ...(requests?.['memory'] === limit ? { requests: { memory: larger } } : {}),
  },
})

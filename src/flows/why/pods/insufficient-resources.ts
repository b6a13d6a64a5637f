// Resources that a pod requests and no node has free: how much it needs, and how much the largest node has.
import { lookup } from '../../../base/collections/lookup.ts'
import type { Node } from '../../../api/core/v1/node/node.ts'
import { isPodFinished } from '../../../api/core/v1/pod/pod-readiness.ts'
import { amountOf, podRequests } from '../../../api/core/v1/pod/pod-requests.ts'
import { pod, type Pod } from '../../../api/core/v1/pod/pod.ts'
import { quantityText } from '../../../schema/scalar/quantity.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'
import { problem, withFix, type Finding } from '../explainer/finding.ts'
import { kubectl } from '../explainer/fix-command.ts'
import { editCommand, type TemplateOwner } from '../explainer/template-owner.ts'

export async function insufficientResources(
  object: Pod,
  nodes: readonly Node[],
  owner: TemplateOwner,
  cluster: ClusterReader,
): Promise<readonly Finding[]> {
  if (nodes.length === 0) return []
  const running = (await cluster.list(pod, '')).filter((each) => !isPodFinished(each))
  const byNode = Map.groupBy(running, ({ spec }) => spec.nodeName ?? '')
  const shortages = [...podRequests(object)].flatMap(([resource, needed]) => {
    if (needed === 0) return []
    const free = nodes.map((each) => {
      const used = (byNode.get(each.metadata.name) ?? []).reduce(
        (sum, own) => sum + (podRequests(own).get(resource) ?? 0),
        0,
      )
      const total = amountOf(resource, lookup(each.status.allocatable, resource))
      return { name: each.metadata.name, total, amount: total - used }
    })
    const most = free.reduce((best, each) => (each.amount > best.amount ? each : best))
    return most.amount >= needed ? [] : [{ resource, needed, most }]
  })
  // One command for all, because the pod fits only when none is left.
  const fix = smallerRequests(
    object,
    shortages.map(({ resource, needed, most }) => ({ resource, surplus: needed - most.amount })),
    owner,
  )
  return shortages.map(({ resource, needed, most }, index) =>
    problem(
      `It requests ${amountText(resource, needed)}; the largest node, ${most.name}, has ${quantity(resource, Math.max(0, most.amount))} of ${amountText(resource, most.total)} free.`,
      index === 0 ? withFix(fix) : {},
    ),
  )
}

const gibibyte = 1024 ** 3

/** `64 CPUs`, `500m CPUs`, `2Gi of memory`, `1 of example.com/gpu` */
function amountText(resource: string, amount: number): string {
  if (resource === 'cpu') return amount === 1000 ? '1 CPU' : `${quantity(resource, amount)} CPUs`
  return `${quantity(resource, amount)} of ${resource}`
}

function quantity(resource: string, amount: number): string {
  if (resource === 'cpu') return quantityText(BigInt(amount) * 1_000_000n)
  const isBytes = resource === 'memory' || resource === 'ephemeral-storage' || resource.startsWith('hugepages-')
  if (isBytes && amount >= gibibyte) return `${Math.floor((amount / gibibyte) * 10) / 10}Gi`
  return quantityText(BigInt(amount) * 1_000_000_000n, isBytes ? '1Ki' : '')
}

interface Surplus {
  readonly resource: string
  /** How much more than the largest node has free. */
  readonly surplus: number
}

/** Lowers the requests of the container that requests most of each resource; undefined where that is not enough. */
function smallerRequests({ spec }: Pod, surpluses: readonly Surplus[], owner: TemplateOwner): string | undefined {
  const changes = surpluses.map(({ resource, surplus }) => {
    const requestOf = (container: Pod['spec']['containers'][number]) =>
      amountOf(resource, lookup(container.resources.requests, resource))
    const largest = spec.containers.reduce((most, each) => (requestOf(each) > requestOf(most) ? each : most))
    return { container: largest.name, resource, fitting: requestOf(largest) - surplus }
  })
  if (changes.length === 0 || changes.some(({ fitting }) => fitting <= 0)) return undefined
  if (owner.kind === 'Pod' || owner.kind === 'Job') return editCommand(owner)
  return [...Map.groupBy(changes, ({ container }) => container)]
    .map(([container, own]) => {
      const requests = own.map(({ resource, fitting }) => `${resource}=${quantity(resource, fitting)}`).join(',')
      return kubectl(owner.namespace, 'set', 'resources', owner.target, '-c', container, `--requests=${requests}`)
    })
    .join(' && ')
}

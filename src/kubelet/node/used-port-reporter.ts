// UsedPortReporter: reports which ports of load balancers are used by programs of this machine, as an annotation of the Node.
// A load balancer on the nodes' own addresses would take their traffic. Other ports are not reported.
import { usedPortsAnnotation } from '../../api/core/v1/node/node-labels.ts'
import { node } from '../../api/core/v1/node/node.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import { lookup } from '../../base/collections/lookup.ts'
import { context } from '../../base/observability/context.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Client } from '../../client/client.ts'
import type { ListeningPorts, ListeningSocket } from '../../machine/listening-ports/listening-ports.ts'

export interface UsedPortReporterDeps {
  readonly client: Client
  readonly nodeName: string
  readonly services: () => readonly Service[]
  readonly listeningPorts: ListeningPorts
  readonly clock: Clock
  readonly log: Log
}

export const usedPortsCheckMs = 5_000
const usedPortsMax = 256

/** Runs until the signal is aborted. */
export async function runUsedPortReporter(deps: UsedPortReporterDeps, signal: AbortSignal): Promise<void> {
  const { clock, log, nodeName } = deps
  /** Unknown at the start and after a failure. */
  let reported: string | undefined
  for (;;) {
    try {
      reported = await report(deps, reported, signal)
    } catch (error) {
      signal.throwIfAborted()
      log.debug('the used ports of the node could not be reported', { node: nodeName, error: errorText(error) })
      reported = undefined
    }
    await clock.sleep(usedPortsCheckMs, signal)
  }
}

async function report(
  { client, nodeName, services, listeningPorts, clock }: UsedPortReporterDeps,
  reported: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const wanted = balancedPorts(services())
  // Without load balancers, nothing is read.
  if (wanted.size === 0 && reported === '') return reported
  const ctx = context(signal)
  const found = await client.of(node).get(nodeName, '', ctx)
  const own = new Set((found.status.addresses ?? []).map(({ address }) => address))
  const sockets = wanted.size === 0 ? [] : await clock.outside(listeningPorts.read())
  const used = usedPorts(wanted, sockets, own)
  if ((lookup(found.metadata.annotations, usedPortsAnnotation) ?? '') !== used) {
    const annotations = { [usedPortsAnnotation]: used === '' ? null : used }
    await client.of(node).patch(nodeName, '', { metadata: { annotations } }, 'merge', ctx)
  }
  return used
}

/** `80/TCP` for the ports of all Services of type LoadBalancer. */
const balancedPorts = (services: readonly Service[]): ReadonlySet<string> =>
  new Set(
    services.flatMap(({ spec }) =>
      spec.type === 'LoadBalancer' ? (spec.ports ?? []).map(({ port, protocol }) => `${port}/${protocol}`) : [],
    ),
  )

/** The wanted ports on which programs listen on all addresses, or on an address of the node; separated by commas. */
export const usedPorts = (
  wanted: ReadonlySet<string>,
  sockets: readonly ListeningSocket[],
  own: ReadonlySet<string>,
): string =>
  [
    ...new Set(
      sockets.flatMap(({ protocol, address, port }) =>
        wanted.has(`${port}/${protocol}`) && (address === undefined || own.has(address)) ? [`${port}/${protocol}`] : [],
      ),
    ),
  ]
    .toSorted()
    .slice(0, usedPortsMax)
    .join(',')

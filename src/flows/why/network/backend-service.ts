// backendFindings: what is wrong with a Service that an Ingress or a route sends requests to.
import { lookup } from '../../../base/collections/lookup.ts'
import { didYouMean, similarNames } from '../../../base/text/similar-names.ts'
import { service } from '../../../api/core/v1/service/service.ts'
import { endpointSlice } from '../../../api/discovery/v1/endpoint-slice.ts'
import { serviceNameLabel } from '../../../api/discovery/v1/endpoint-slice-labels.ts'
import type { IngressBackend } from '../../../api/networking/v1/ingress-spec.ts'
import { isMissing, type ClusterReader } from '../explainer/cluster-reader.ts'
import { questionSentence } from '../explainer/explainer.ts'
import { problem, warning, type Finding } from '../explainer/finding.ts'
import { kubectl } from '../explainer/fix-command.ts'

type Backend = NonNullable<IngressBackend['service']>

/** The name or the number of a port. */
export const portText = ({ name, number }: { readonly name?: string; readonly number?: number } = {}): string =>
  name === undefined || name === '' ? String(number ?? '') : name

/** `renamed` is the command that names another Service. */
export async function backendFindings(
  namespace: string,
  { name, port }: Backend,
  cluster: ClusterReader,
  renamed?: (meant: string) => string,
): Promise<Finding[]> {
  const found = await cluster.find(service, namespace, name)
  const wanted = portText(port)
  if (found === undefined)
    return (await isMissing(cluster, service, namespace, name))
      ? [await missing(namespace, name, wanted, cluster, renamed)]
      : []
  const ports = found.spec.ports ?? []
  if (!ports.some((each) => each.name === wanted || String(each.port) === wanted))
    return [
      problem(
        `Its backend Service ${name} has no port ${wanted}; it has ${ports.map(servicePortText).join(', ') || 'none'}.`,
        { fix: kubectl(namespace, 'edit', `service/${name}`) },
      ),
    ]
  const slices = (await cluster.list(endpointSlice, namespace)).filter(
    ({ metadata }) => lookup(metadata.labels, serviceNameLabel) === name,
  )
  const hasReady = slices.some(({ endpoints }) => (endpoints ?? []).some(({ conditions }) => conditions.ready ?? true))
  return hasReady
    ? []
    : [
        warning(
          `Its backend Service ${name} has no ready endpoint, so requests get 503: see coxswain why service/${name}.`,
        ),
      ]
}

async function missing(
  namespace: string,
  name: string,
  port: string,
  cluster: ClusterReader,
  renamed: ((meant: string) => string) | undefined,
): Promise<Finding> {
  const similar = similarNames(
    name,
    (await cluster.list(service, namespace)).map(({ metadata }) => metadata.name),
  )
  const [meant] = similar
  const number = /^\d+$/.test(port) ? port : 'PORT'
  return problem(`Its backend Service ${name} does not exist.${questionSentence(didYouMean(similar))}`, {
    fix:
      meant === undefined || renamed === undefined
        ? kubectl(namespace, 'create', 'service', 'clusterip', name, `--tcp=${number}:${number}`)
        : renamed(meant),
  })
}

const servicePortText = ({ name, port }: { readonly name?: string; readonly port: number }): string =>
  name === undefined || name === '' ? String(port) : `${port} (${name})`

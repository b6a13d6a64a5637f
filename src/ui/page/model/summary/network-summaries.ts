// The summaries of Services, with their endpoints, and of Ingresses, with their routes.
import { selectorText } from '../../../../api/selectors/selectors.ts'
import type { ClusterObject } from '../../source/source.ts'
import { titleOf } from './pod-summary.ts'
import { fact, linkNamed, tableRowsMax, type KindSummary, type SummaryValue } from './summary-parts.ts'

interface ServiceSpec {
  readonly type?: string
  readonly clusterIP?: string
  readonly clusterIPs?: readonly string[]
  readonly externalName?: string
  readonly externalIPs?: readonly string[]
  readonly selector?: Readonly<Record<string, string>>
  readonly sessionAffinity?: string
  readonly ports?: readonly {
    readonly name?: string
    readonly port: number
    readonly targetPort?: number | string
    readonly nodePort?: number
    readonly protocol?: string
  }[]
}

interface EndpointSlice {
  readonly ports?: readonly { readonly port?: number; readonly protocol?: string }[]
  readonly endpoints?: readonly {
    readonly addresses?: readonly string[]
    readonly nodeName?: string
    readonly targetRef?: { readonly kind?: string; readonly name?: string; readonly namespace?: string }
    readonly conditions?: { readonly ready?: boolean; readonly serving?: boolean; readonly terminating?: boolean }
  }[]
}

const slices = 'endpointslices.discovery.k8s.io'
const serviceNameLabel = 'kubernetes.io/service-name'

interface Balancer {
  readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[] }
}

const addressesOf = ({ status }: ClusterObject): readonly (string | undefined)[] =>
  ((status ?? {}) as Balancer).loadBalancer?.ingress?.map(({ ip, hostname }) => ip ?? hostname) ?? []

export const serviceSummary: KindSummary = {
  queries: ({ metadata: { name, namespace = '' } }) => [
    { resource: slices, namespace, labelSelector: `${serviceNameLabel}=${name}` },
  ],
  facts(service) {
    const spec = (service.spec ?? {}) as ServiceSpec
    const { type = 'ClusterIP', clusterIP, clusterIPs = [], ports = [], selector } = spec
    return [
      ...fact('Type', type),
      ...fact('Addresses', ...(clusterIPs.length === 0 ? [clusterIP] : clusterIPs)),
      ...fact('Outside', spec.externalName, ...(spec.externalIPs ?? []), ...addressesOf(service)),
      ...fact('Ports', ...ports.map(portText)),
      ...fact('Selects', selectorText(selector === undefined ? undefined : { matchLabels: selector })),
      ...fact('Sticky', spec.sessionAffinity === 'ClientIP' ? 'by client address' : undefined),
    ]
  },
  tables(service, lists) {
    const rows = lists(slices)
      .filter(({ metadata }) => metadata.labels?.[serviceNameLabel] === service.metadata.name)
      .flatMap((slice) => {
        const { endpoints = [], ports = [] } = slice as unknown as EndpointSlice
        const portsText = ports.map(({ port, protocol = 'TCP' }) => `${port ?? 'any'}/${protocol}`).join(', ')
        return endpoints.map(({ addresses = [], nodeName, targetRef, conditions }): readonly SummaryValue[] => [
          addresses.join(', '),
          portsText,
          readiness(conditions),
          targetRef?.kind === 'Pod' ? linkNamed('pods', targetRef.namespace ?? '', targetRef.name) : '',
          linkNamed('nodes', '', nodeName),
        ])
      })
    return [
      {
        title: titleOf('Endpoints', rows),
        columns: ['Address', 'Ports', 'State', 'Pod', 'Node'],
        rows: rows.slice(0, tableRowsMax),
        empty: 'It has no endpoints: no pod matches its selector, or none has an address.',
      },
    ]
  },
}

function portText({ name, port, targetPort, nodePort, protocol = 'TCP' }: NonNullable<ServiceSpec['ports']>[number]) {
  const to = targetPort === undefined || targetPort === port ? '' : ` → ${targetPort}`
  return `${name === undefined ? '' : `${name} `}${port}/${protocol}${to}${nodePort === undefined ? '' : `, ${nodePort} on nodes`}`
}

function readiness({
  ready = true,
  terminating = false,
}: { ready?: boolean; terminating?: boolean } = {}): SummaryValue {
  if (terminating) return { text: 'terminating', state: 'ended' }
  return ready ? { text: 'ready', state: 'good' } : { text: 'not ready', state: 'waiting' }
}

interface IngressSpec {
  readonly ingressClassName?: string
  readonly defaultBackend?: Backend
  readonly tls?: readonly { readonly secretName?: string; readonly hosts?: readonly string[] }[]
  readonly rules?: readonly {
    readonly host?: string
    readonly http?: { readonly paths?: readonly { readonly path?: string; readonly backend?: Backend }[] }
  }[]
}

interface Backend {
  readonly service?: {
    readonly name?: string
    readonly port?: { readonly number?: number; readonly name?: string }
  }
}

export const ingressSummary: KindSummary = {
  facts(ingress) {
    const { ingressClassName, tls = [] } = (ingress.spec ?? {}) as IngressSpec
    const { namespace = '' } = ingress.metadata
    return [
      ...fact('Class', linkNamed('ingressclasses.networking.k8s.io', '', ingressClassName)),
      ...fact('Addresses', ...addressesOf(ingress)),
      ...fact('Certificates', ...tls.map(({ secretName }) => linkNamed('secrets', namespace, secretName))),
    ]
  },
  tables({ spec, metadata: { namespace = '' } }) {
    const { rules = [], defaultBackend } = (spec ?? {}) as IngressSpec
    const row = (host: string, path: string, backend: Backend | undefined): readonly SummaryValue[] => [
      host,
      path,
      linkNamed('services', namespace, backend?.service?.name),
      String(backend?.service?.port?.number ?? backend?.service?.port?.name ?? ''),
    ]
    const rows = [
      ...rules.flatMap(({ host = '*', http }) =>
        (http?.paths ?? []).map(({ path = '/', backend }) => row(host, path, backend)),
      ),
      ...(defaultBackend === undefined ? [] : [row('others', '', defaultBackend)]),
    ]
    return [
      {
        title: titleOf('Routes', rows),
        columns: ['Host', 'Path', 'Service', 'Port'],
        rows: rows.slice(0, tableRowsMax),
        empty: 'It has no routes.',
      },
    ]
  },
}

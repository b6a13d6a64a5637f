// Explains why an Ingress does not serve requests: its class, its Services and their ports and endpoints, its Secrets.
import { lookup } from '../../base/collections/lookup.ts'
import { secret } from '../../api/core/v1/secret.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { serviceNameLabel } from '../../api/discovery/v1/endpoint-slice-labels.ts'
import { namespaceOf } from '../../api/meta/object.ts'
import { ingressClass } from '../../api/networking/v1/ingress-class.ts'
import type { IngressBackend } from '../../api/networking/v1/ingress-spec.ts'
import { ingress, type Ingress } from '../../api/networking/v1/ingress.ts'
import { defineExplainer, type ClusterReader } from './explainer.ts'

export const ingressExplainer = defineExplainer({
  kind: ingress,
  checked: 'its class, its address, its Services with their endpoints, and its Secrets',
  async explain(object, cluster) {
    const addresses = object.status.loadBalancer?.ingress ?? []
    return [
      ...(addresses.length === 0 ? ['No ingress controller has assigned an address.'] : []),
      ...(await classSentences(object, cluster)),
      ...(await backendSentences(object, cluster)),
      ...(await secretSentences(object, cluster)),
    ]
  },
})

async function classSentences({ metadata, spec }: Ingress, cluster: ClusterReader): Promise<string[]> {
  const name = spec.ingressClassName ?? lookup(metadata.annotations, 'kubernetes.io/ingress.class')
  if (name === undefined) return ['It has no class, and there was no default class when it was created.']
  const found = await cluster.find(ingressClass, '', name)
  return found === undefined ? [`Its class ${name} does not exist.`] : []
}

const portText = ({ name, number }: { readonly name?: string; readonly number?: number } = {}): string =>
  name === undefined || name === '' ? String(number ?? '') : name

async function backendSentences(object: Ingress, cluster: ClusterReader): Promise<string[]> {
  const { defaultBackend, rules = [] } = object.spec
  const paths = rules.flatMap(({ http }) => http?.paths ?? []).map(({ backend }) => backend)
  const used = new Map<string, IngressBackend['service']>()
  for (const backend of [defaultBackend, ...paths])
    if (backend?.service !== undefined)
      used.set(`${backend.service.name}:${portText(backend.service.port)}`, backend.service)
  const sentences: string[] = []
  for (const backend of used.values())
    if (backend !== undefined) sentences.push(...(await serviceSentences(namespaceOf(object), backend, cluster)))
  return [...new Set(sentences)]
}

/** What is wrong with a Service that requests are sent to. */
export async function serviceSentences(
  namespace: string,
  { name, port }: NonNullable<IngressBackend['service']>,
  cluster: ClusterReader,
): Promise<string[]> {
  const found = await cluster.find(service, namespace, name)
  if (found === undefined) return [`Its backend Service ${name} does not exist.`]
  const wanted = portText(port)
  const ports = found.spec.ports ?? []
  if (!ports.some((each) => each.name === wanted || String(each.port) === wanted))
    return [
      `Its backend Service ${name} has no port ${wanted}; it has ${ports.map(servicePortText).join(', ') || 'none'}.`,
    ]
  const slices = (await cluster.list(endpointSlice, namespace)).filter(
    ({ metadata }) => lookup(metadata.labels, serviceNameLabel) === name,
  )
  const hasReady = slices.some(({ endpoints }) => (endpoints ?? []).some(({ conditions }) => conditions.ready ?? true))
  return hasReady
    ? []
    : [`Its backend Service ${name} has no ready endpoint, so requests get 503: see coxswain why service/${name}.`]
}

const servicePortText = ({ name, port }: { readonly name?: string; readonly port: number }): string =>
  name === undefined || name === '' ? String(port) : `${port} (${name})`

async function secretSentences(object: Ingress, cluster: ClusterReader): Promise<string[]> {
  const names = new Set(
    (object.spec.tls ?? []).flatMap(({ secretName = '' }) => (secretName === '' ? [] : [secretName])),
  )
  const sentences: string[] = []
  for (const name of names) {
    const found = await cluster.find(secret, namespaceOf(object), name)
    if (found === undefined)
      sentences.push(`Its Secret ${name} does not exist: clients get a certificate that they do not trust.`)
    else if (lookup(found.data, 'tls.crt') === undefined || lookup(found.data, 'tls.key') === undefined)
      sentences.push(`Its Secret ${name} has no tls.crt and tls.key.`)
  }
  return sentences
}

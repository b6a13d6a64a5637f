// Builders of Services, EndpointSlices and zones for tests, and records as text.
import type { Service } from '../../api/core/v1/service/service.ts'
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import type { Endpoint } from '../../api/discovery/v1/endpoint.ts'
import type { ResourceRecord } from '../message/record.ts'
import { recordType } from '../message/record.ts'
import { ClusterZone, type ZoneAnswer } from './cluster-zone.ts'

export const serviceOf = (name: string, spec: Partial<Service['spec']>, namespace = 'default'): Service =>
  ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, uid: `${namespace}/${name}` },
    spec: { type: 'ClusterIP', ...(spec.clusterIP === undefined ? {} : { clusterIPs: [spec.clusterIP] }), ...spec },
    status: { loadBalancer: {} },
  }) as unknown as Service

export const namedPort = (name: string, port: number, protocol: 'SCTP' | 'TCP' | 'UDP' = 'TCP') => ({
  name,
  port,
  protocol,
})

export const sliceOf = (
  service: string,
  endpoints: readonly (string | Partial<Endpoint>)[],
  { ports = [namedPort('http', 8080)], name = `${service}-1`, namespace = 'default' } = {},
): EndpointSlice =>
  ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace, labels: { 'kubernetes.io/service-name': service } },
    addressType: 'IPv4',
    ports,
    endpoints: endpoints.map((endpoint) =>
      typeof endpoint === 'string' ? { addresses: [endpoint], conditions: { ready: true } } : endpoint,
    ),
  }) as unknown as EndpointSlice

export function zoneOf(...objects: readonly (Service | EndpointSlice)[]): ClusterZone {
  const zone = new ClusterZone('cluster.local')
  for (const namespace of ['default', 'kube-system']) zone.setNamespace(namespace, true)
  for (const object of objects)
    if (object.kind === 'Service') zone.setService(undefined, object as Service)
    else zone.setEndpointSlice(undefined, object as EndpointSlice)
  return zone
}

/** `name type`, as in `web.default A`; a name without a dot at the end is relative to `svc.cluster.local`. */
export function lookUp(zone: ClusterZone, question: string): string[] {
  const [name = '', type = ''] = question.split(' ')
  const absolute = name.endsWith('.') ? name.slice(0, -1) : `${name}.svc.${zone.domain}`
  return answerText(zone.lookup(absolute, recordType[type as keyof typeof recordType]))
}

export function answerText(answer: ZoneAnswer): string[] {
  if (answer.kind === 'alias-loop') return ['loop']
  const records = answer.records.map(recordText)
  if (answer.kind === 'records') return [...records, ...answer.additional.map((record) => `+ ${recordText(record)}`)]
  return [...records, answer.kind === 'elsewhere' ? `elsewhere ${answer.name}` : answer.kind]
}

const typeNames = new Map<number, string>(Object.entries(recordType).map(([name, code]) => [code, name]))

export function recordText({ name, type, ttlSeconds, data }: ResourceRecord): string {
  return `${name} ${ttlSeconds} ${typeNames.get(type) ?? type} ${dataText(data)}`
}

function dataText(data: ResourceRecord['data']): string {
  switch (data.kind) {
    case 'address':
      return data.address
    case 'name':
      return data.target
    case 'mail':
      return `${data.preference} ${data.target}`
    case 'location':
      return `${data.priority} ${data.weight} ${data.port} ${data.target}`
    case 'authority':
      return `${data.primary} ${data.mailbox} ${data.minimumSeconds}`
    case 'texts':
      return data.texts.map((text) => JSON.stringify(text)).join(' ')
    case 'opaque':
      return data.bytes.toHex()
    default:
      return data satisfies never
  }
}

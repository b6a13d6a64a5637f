// Environment variables with the addresses of services: those of the pod's namespace and the API server's.
import { urlHost } from '../../base/net/host-port.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { Service } from '../../api/core/v1/service/service.ts'

export function serviceVariables(services: readonly Service[], { metadata, spec }: Pod): Map<string, string> {
  const variables = new Map<string, string>()
  for (const service of services) {
    const { name, namespace } = service.metadata
    const isApiServer = namespace === 'default' && name === 'kubernetes'
    const isOwn = namespace === metadata.namespace && spec.enableServiceLinks !== false
    if (isApiServer || isOwn) for (const [key, value] of variablesOf(service)) variables.set(key, value)
  }
  return variables
}

function variablesOf({ metadata: { name }, spec }: Service): [string, string][] {
  const ip = spec.clusterIP ?? ''
  const [first] = spec.ports ?? []
  if (ip === '' || ip === 'None' || first === undefined) return []
  const prefix = name.toUpperCase().replaceAll('-', '_')
  const url = (protocol: string, port: number) => `${protocol.toLowerCase()}://${urlHost(ip)}:${port}`
  return [
    [`${prefix}_SERVICE_HOST`, ip],
    [`${prefix}_SERVICE_PORT`, String(first.port)],
    ...(spec.ports ?? [])
      .filter((port) => port.name !== undefined)
      .map(({ name: portName = '', port }): [string, string] => [
        `${prefix}_SERVICE_PORT_${portName.toUpperCase().replaceAll('-', '_')}`,
        String(port),
      ]),
    [`${prefix}_PORT`, url(first.protocol, first.port)],
    ...(spec.ports ?? []).flatMap(({ port, protocol }): [string, string][] => {
      const at = `${prefix}_PORT_${port}_${protocol}`
      return [
        [at, url(protocol, port)],
        [`${at}_PROTO`, protocol.toLowerCase()],
        [`${at}_PORT`, String(port)],
        [`${at}_ADDR`, ip],
      ]
    }),
  ]
}

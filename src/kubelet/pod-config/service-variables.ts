// Environment variables with the addresses of services: those of the pod's namespace and the API server's.
import { urlHost } from '../../base/net/host-port.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { Service } from '../../api/core/v1/service/service.ts'

/** One by one, because the caller counts them: a Service may have thousands of ports, with four variables each. */
export function* serviceVariables(services: readonly Service[], { metadata, spec }: Pod): Generator<[string, string]> {
  for (const service of services) {
    const { name, namespace } = service.metadata
    const isApiServer = namespace === 'default' && name === 'kubernetes'
    const isOwn = namespace === metadata.namespace && spec.enableServiceLinks !== false
    if (isApiServer || isOwn) yield* variablesOf(service)
  }
}

function* variablesOf({ metadata: { name }, spec }: Service): Generator<[string, string]> {
  const ip = spec.clusterIP ?? ''
  const ports = spec.ports ?? []
  const [first] = ports
  if (ip === '' || ip === 'None' || first === undefined) return
  const prefix = name.toUpperCase().replaceAll('-', '_')
  const url = (protocol: string, port: number) => `${protocol.toLowerCase()}://${urlHost(ip)}:${port}`
  yield [`${prefix}_SERVICE_HOST`, ip]
  yield [`${prefix}_SERVICE_PORT`, String(first.port)]
  for (const { name: portName, port } of ports)
    if (portName !== undefined)
      yield [`${prefix}_SERVICE_PORT_${portName.toUpperCase().replaceAll('-', '_')}`, String(port)]
  yield [`${prefix}_PORT`, url(first.protocol, first.port)]
  for (const { port, protocol } of ports) {
    const at = `${prefix}_PORT_${port}_${protocol}`
    yield [at, url(protocol, port)]
    yield [`${at}_PROTO`, protocol.toLowerCase()]
    yield [`${at}_PORT`, String(port)]
    yield [`${at}_ADDR`, ip]
  }
}

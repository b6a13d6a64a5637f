// Targets of httpGet and tcpSocket handlers.
import type { Container } from '../../api/core/v1/container/container.ts'
import type { HTTPGetAction } from '../../api/core/v1/container/probe.ts'
import type { HttpTarget } from './http-get.ts'

/** Resolves a port that may be named. Throws when the container has no such port. */
export function portOf(port: number | string, { name, ports = [] }: Pick<Container, 'name' | 'ports'>): number {
  const number =
    typeof port === 'number'
      ? port
      : (ports.find((candidate) => candidate.name === port)?.containerPort ?? Number(port || Number.NaN))
  if (!Number.isInteger(number) || number < 1 || number > 65_535)
    throw new Error(`couldn't find port: ${JSON.stringify(port)} in container ${JSON.stringify(name)}`)
  return number
}

export const httpTargetOf = (action: HTTPGetAction, container: Container, podIp: string): HttpTarget => {
  const path = action.path ?? '/'
  return {
    scheme: action.scheme === 'HTTPS' ? 'https' : 'http',
    host: action.host || podIp,
    port: portOf(action.port, container),
    path: path.startsWith('/') ? path : `/${path}`,
    headers: action.httpHeaders ?? [],
  }
}

// originOf: the origin of a server that an object names. The host must be an IP address or a DNS name, so that no part
// of it can be parsed as a port, a path or credentials.
import { joinHostPort } from '../../base/net/host-port.ts'
import { isIp } from '../../base/net/ip-bytes.ts'
import { badRequest } from '../../api/errors/status-error.ts'

export function originOf(scheme: 'http' | 'https', host: string, port: number): string {
  if (!isIp(host) && !/^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$/.test(host))
    throw badRequest(`lookup ${host}: no such host`)
  return `${scheme}://${joinHostPort(host, port)}`
}

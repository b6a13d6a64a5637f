// originOf: the origin of a server that an object names. The host must be an IP address or a DNS name, so that no part
// of it can be parsed as a port, a path or credentials.
import { badRequest } from '../../api/errors/status-error.ts'
import { isIpV4, isIpV6 } from '../../api/validation/network-rules.ts'

export function originOf(scheme: 'http' | 'https', host: string, port: number): string {
  if (isIpV6(host)) return `${scheme}://[${host}]:${port}`
  if (!isIpV4(host) && !/^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$/.test(host))
    throw badRequest(`lookup ${host}: no such host`)
  return `${scheme}://${host}:${port}`
}

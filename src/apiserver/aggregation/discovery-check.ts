// checkDiscovery: an extension server is available if it answers for its group version. Its answer is the list of resources.
import type { Clock } from '../../base/time/clock.ts'
import type { Outbound } from '../../platform/http/outbound.ts'
import { failureText } from '../outbound/failure-text.ts'
import { exchangeText, isSuccess, type TextResponse } from '../outbound/outbound-json.ts'
import type { Extension } from '../request/extension.ts'
import { userWithName } from '../request/request.ts'
import { failedDiscovery, passed, type Availability } from './availability.ts'
import type { ExtensionConnections } from './extension-connections.ts'
import { remoteUserHeaders } from './remote-user-headers.ts'

export interface ExtensionCallDeps {
  readonly connections: ExtensionConnections
  readonly clock: Clock
}

/** As upstream. */
const checkMsMax = 6_000
/** An OpenAPI v2 document is the longest one. */
const documentBytesMax = 16 << 20

/** The user as whom this server itself calls extensions. */
const aggregator = remoteUserHeaders(userWithName('system:kube-aggregator', ['system:masters']))

export async function checkDiscovery(
  extension: Extension,
  deps: ExtensionCallDeps,
  signal: AbortSignal,
): Promise<{ readonly availability: Availability; readonly resources: string }> {
  const path = `/apis/${extension.group}/${extension.version}`
  const failed = (message: string) => ({ availability: failedDiscovery(message), resources: '' })
  let url = path
  try {
    url = `${deps.connections.endpointOf(extension).origin}${path}`
    const { status, text } = await readExtension(extension, path, {}, deps, signal)
    return isSuccess(status)
      ? { availability: passed, resources: text }
      : failed(`failing or missing response from ${url}: bad status from ${url}: ${status}`)
  } catch (error) {
    signal.throwIfAborted()
    return failed(`failing or missing response from ${url}: Get ${JSON.stringify(url)}: ${failureText(error)}`)
  }
}

/** Reads a document of an extension server, within bounds. */
export function readExtension(
  extension: Extension,
  path: string,
  headers: Readonly<Record<string, string>>,
  { connections, clock }: ExtensionCallDeps,
  signal: AbortSignal,
): Promise<TextResponse> {
  const outbound: Outbound = {
    send: (request, until) => connections.send(extension, request, until),
    close: () => Promise.resolve(),
  }
  const request = { method: 'GET', target: path, headers: { ...aggregator, ...headers } }
  const server = { outbound, clock, timeoutMs: checkMsMax, responseBytesMax: documentBytesMax }
  return exchangeText(server, request, signal)
}

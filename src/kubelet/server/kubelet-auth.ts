// Access control of the kubelet's server: every path maps to a subresource of the node.
import { lookup } from '../../base/collections/lookup.ts'
import { methodVerbs } from '../../api/kind/method-verbs.ts'
import type { WireRequest } from '../../platform/http/listener.ts'
import { KubeletHttpError } from './kubelet-host.ts'

export interface KubeletUser {
  readonly name: string
  readonly groups: readonly string[]
}

export interface KubeletAuth {
  /** The user of a token; undefined when it is invalid. */
  authenticateToken(token: string, signal: AbortSignal): Promise<KubeletUser | undefined>
  /** Whether the user may use the verb on `nodes/<subresource>` of this node. */
  authorize(user: KubeletUser, verb: string, subresource: string, signal: AbortSignal): Promise<boolean>
}

/** Paths with their own subresource; `nodes/proxy` grants access to these, too. */
const subresources: Readonly<Record<string, string>> = {
  configz: 'configz',
  healthz: 'healthz',
  logs: 'log',
  metrics: 'metrics',
  pods: 'pods',
  runningpods: 'pods',
  stats: 'stats',
}
const proxySubresource = 'proxy'

export async function authorizeRequest(
  request: WireRequest,
  path: readonly string[],
  auth: KubeletAuth,
): Promise<void> {
  const user = await userOf(request, auth)
  if (user === undefined) throw new KubeletHttpError(401, 'Unauthorized')
  const verb = lookup(methodVerbs, request.method) ?? ''
  const checked = [...new Set([lookup(subresources, path[0] ?? '') ?? proxySubresource, proxySubresource])]
  for (const subresource of checked) if (await auth.authorize(user, verb, subresource, request.signal)) return
  throw new KubeletHttpError(
    403,
    `Forbidden (user=${user.name}, verb=${verb}, resource=nodes, subresource(s)=[${checked.join(' ')}])\n`,
  )
}

async function userOf(
  { certificate, headers, signal }: WireRequest,
  auth: KubeletAuth,
): Promise<KubeletUser | undefined> {
  if (certificate?.trustedFor.includes('users') === true)
    return { name: certificate.commonName, groups: certificate.organizations }
  const token = /^bearer\s+(\S.*)$/i.exec(headers['authorization'] ?? '')?.[1]
  return token === undefined ? undefined : auth.authenticateToken(token, signal)
}
